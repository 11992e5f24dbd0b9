/* stepcost verify: is a record whole, and unchanged since it was written? */
#include "cli/commands.h"
#include "model/record.h"

#include <stddef.h>

static const struct opt_table table = {
    .usage = "stepcost verify RECORD...",
    .summary = "Checks the hash chain of records: intact, intact but unfinished, or broken at a line.",
};

static int verify_one(const char *path, enum err_code *worst, struct err *e) {
    struct record r;
    if (record_read(path, &r, e))
        return -1;
    if (r.state == RECORD_BROKEN) {
        printf("%s: broken at line %zu; what stands before it is kept\n", path, r.broken_line);
        *worst = ERR_VERDICT;
    } else if (r.state == RECORD_UNFINISHED) {
        printf("%s: intact but unfinished, %zu cases", path, r.case_count);
        if (r.torn_bytes)
            printf(", a torn last line of %llu bytes", (unsigned long long)r.torn_bytes);
        printf("; stepcost run --resume %s goes on\n", path);
        if (*worst == ERR_NONE)
            *worst = ERR_UNFINISHED;
    } else {
        printf("%s: intact, %zu cases\n", path, r.case_count);
    }
    record_free(&r);
    return 0;
}

static int run(int argc, char **argv, struct err *e) {
    struct opt_list paths = {0};
    enum err_code worst = ERR_NONE;
    bool done;
    int result = command_parse(&table, argc, argv, NULL, &paths, &done, e);
    if (!result && !done && paths.count == 0)
        result = err_set(e, ERR_USAGE, "stepcost verify: which record? stepcost verify RECORD...");
    for (size_t i = 0; !result && i < paths.count; i++)
        result = verify_one(paths.items[i], &worst, e);
    if (!result && worst == ERR_VERDICT)
        result =
            err_set(e, worst, "a record is broken: measure again, or keep only its cases before that line");
    else if (!result && worst == ERR_UNFINISHED)
        result = err_set(e, worst, "a record is unfinished");
    opt_list_free(&paths);
    return result;
}

const struct command command_verify = {
    .name = "verify", .summary = "check that records are whole", .options = &table, .run = run};
