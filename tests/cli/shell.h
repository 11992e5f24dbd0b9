/* Runs the built program as a user would, and keeps what it printed. */
#ifndef TESTS_CLI_SHELL_H
#define TESTS_CLI_SHELL_H

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* `command` under sh with $S = the program; stderr joins stdout. Returns the exit status. */
static inline int shell(const char *command, struct text *output) {
    char block[4096];
    size_t got;
    setenv("S", STEPCOST_PROGRAM, 1);
    text_clear(output);
    struct text line = {0};
    text_printf(&line, "{ %s ; } 2>&1", command);
    FILE *pipe = popen(text_get(&line), "r");
    text_free(&line);
    if (!pipe)
        return -1;
    while ((got = fread(block, 1, sizeof block, pipe)) > 0)
        text_add_bytes(output, block, got);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A new empty folder, entered; it stays for whoever wants to look when a test fails. */
static inline void enter_scratch_folder(void) {
    char name[] = "/tmp/stepcost-test-XXXXXX";
    if (!mkdtemp(name) || chdir(name))
        abort();
}

#endif
