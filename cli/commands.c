#include "cli/commands.h"

#include <errno.h>
#include <string.h>

const struct command *const commands[] = {
    &command_run,  &command_rank,     &command_offers, &command_show, &command_verify,
    &command_list, &command_workload, &command_worker, NULL,
};

const struct command *command_find(const char *name) {
    for (const struct command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

int command_parse(const struct opt_table *table, int argc, char **argv, void *fields, struct opt_list *rest,
                  bool *done, struct err *e) {
    int help = 0;
    *done = false;
    if (opt_parse(table, argc, argv, fields, rest, &help, e))
        return err_wrap(e, "stepcost %s", argv[0]);
    if (help) {
        opt_print_help(stdout, table);
        *done = true;
    }
    return 0;
}

FILE *command_open_output(const char *path, struct err *e) {
    if (!path)
        return stdout;
    FILE *out = fopen(path, "we");
    if (!out)
        (void)err_set(e, ERR_IO, "%s: cannot write here: %s", path, strerror(errno));
    return out;
}

int command_close_output(FILE *out, const char *path, struct err *e) {
    bool bad = fflush(out) != 0 || ferror(out);
    int reason = errno;
    if (out != stdout && fclose(out) != 0)
        bad = true;
    if (bad)
        return err_set(e, ERR_IO, "%s: writing failed: %s", path ? path : "standard output",
                       strerror(reason));
    return 0;
}
