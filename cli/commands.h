/* The subcommands, as rows of a table (commands.c), and what they share. Only cli/ prints. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "base/err.h"
#include "base/opt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct command {
    const char *name, *summary;
    const struct opt_table *options; /* for the README's table; NULL = internal command */
    /* argv[0] is the command's name. Results to stdout. -1 with the error that decides the exit status. */
    int (*run)(int argc, char **argv, struct err *e);
};

extern const struct command command_run, command_rank, command_offers, command_show, command_verify,
    command_list, command_workload, command_worker;

extern const struct command *const commands[]; /* ends with NULL */
const struct command *command_find(const char *name);

/* Parses argv; on --help prints it and sets *done. rest may be NULL. */
int command_parse(const struct opt_table *table, int argc, char **argv, void *fields, struct opt_list *rest,
                  bool *done, struct err *e) MUST_CHECK;

/* Opens path for writing, or gives stdout for NULL. command_close_output reports write errors (a full
 * disk) and leaves stdout open. */
FILE *command_open_output(const char *path, struct err *e) MUST_CHECK;
int command_close_output(FILE *out, const char *path, struct err *e) MUST_CHECK;

#endif
