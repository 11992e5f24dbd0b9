#include "cli/progress.h"

#include "base/units.h"
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { BAR_CELLS = 20 };

void progress_begin(struct progress *p, bool quiet, bool verbose) {
    *p = (struct progress){.quiet = quiet, .overwrite = !verbose && isatty(STDERR_FILENO)};
    p->price.per_hour = money_unknown();
}

static void print_expectation(const struct progress *p, const struct run_progress *now) {
    char time[UNITS_TEXT_SIZE], cost[32];
    fprintf(stderr, "%s: %zu cases, about %s", now->text, now->total,
            units_format_duration(now->left_s, time));
    if (isfinite(p->price.per_hour.amount))
        fprintf(stderr, ", about %s at the price given",
                money_format(money_scale(p->price.per_hour, now->left_s / 3600), cost));
    fputc('\n', stderr);
}

static void print_bar(const struct run_progress *now) {
    char time[UNITS_TEXT_SIZE];
    size_t filled = now->total ? now->done * BAR_CELLS / now->total : 0;
    fputs("\r\033[K[", stderr);
    for (size_t i = 0; i < BAR_CELLS; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "] %zu/%zu, %s left  %s", now->done, now->total, units_format_duration(now->left_s, time),
            now->text);
}

static void end_line(struct progress *p) {
    if (p->pending)
        fputs("\r\033[K", stderr);
    p->pending = false;
}

void progress_say(void *context, const struct run_progress *now) {
    struct progress *p = context;
    char time[UNITS_TEXT_SIZE];
    if (now->notice) {
        end_line(p);
        fprintf(stderr, "notice: %s\n", now->text);
    } else if (p->quiet) {
        return;
    } else if (!p->announced) {
        print_expectation(p, now);
        p->announced = true;
    } else if (p->overwrite) {
        print_bar(now);
        p->pending = true;
    } else {
        fprintf(stderr, "[%zu/%zu, %s left] %s\n", now->done + 1, now->total,
                units_format_duration(now->left_s, time), now->text);
    }
    fflush(stderr);
}

void progress_end(struct progress *p) {
    end_line(p);
}
