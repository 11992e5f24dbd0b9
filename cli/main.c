/* stepcost: measure -> record -> judge -> price. This file finds the subcommand, prints its error and turns
 * the error's code into the exit status. */
#include "base/proc.h"
#include "base/text.h"
#include "cli/commands.h"

#include <locale.h>
#include <string.h>

static void print_usage(FILE *out) {
    fputs("stepcost measures what a node delivers and ranks offers by real cost per training step.\n\n"
          "usage: stepcost COMMAND [OPTION]...      (stepcost COMMAND --help explains each)\n\n",
          out);
    for (const struct command *const *c = commands; *c; c++)
        if ((*c)->options)
            fprintf(out, "  %-8s %s\n", (*c)->name, (*c)->summary);
    fputs("\nexit status: 0 pass, 1 a verdict failed, 2 usage or bad input, 3 no measurement was possible,\n"
          "4 inconclusive or unfinished\n",
          out);
}

static int unknown_command(const char *word, struct err *e) {
    const char *names[16];
    size_t count = 0;
    for (const struct command *const *c = commands; *c && count < 16; c++)
        if ((*c)->options)
            names[count++] = (*c)->name;
    const char *near = text_nearest(word, names, count);
    return err_set(e, ERR_USAGE, "unknown command \"%s\"%s%s%s; stepcost --help lists them", word,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

int main(int argc, char **argv) {
    struct err e = {0};
    proc_fill_stdio();
    setlocale(LC_ALL, "C");
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    const char *word = argc > 1 ? argv[1] : "--help";
    const struct command *command = command_find(word);
    int failed = 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        print_usage(stdout);
    else if (strcmp(word, "--version") == 0)
        puts("stepcost " STEPCOST_VERSION " (" STEPCOST_REVISION ")");
    else
        failed = command ? command->run(argc - 1, argv + 1, &e) : unknown_command(word, &e);
    if (fflush(stdout) != 0 && !failed)
        failed = err_set(&e, ERR_IO, "standard output: writing failed");
    if (!failed)
        return argc > 1 ? 0 : 2;
    fprintf(stderr, "stepcost: %s\n", e.text);
    return err_exit_status(e.code);
}
