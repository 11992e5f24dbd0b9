#include "base/err.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct err_row {
    const char *name;
    int exit_status;
};

#define ERR_ROW(name, status, meaning) [name] = {#name, status},
static const struct err_row rows[] = {ERR_CODES(ERR_ROW)};
#undef ERR_ROW

/* An error is one line: a newline inside a quoted piece of input must not break it in two, an escape sequence
 * must not reach the terminal, and what was cut in the middle of a character is still UTF-8. */
static void flatten(char *text) {
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '\x7F')
            *c = ' ';
    utf8_clean(text);
}

int err_set(struct err *e, enum err_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    e->code = code;
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    flatten(e->text);
    return -1;
}

int err_wrap(struct err *e, const char *format, ...) {
    char context[ERR_TEXT_SIZE], whole[2 * ERR_TEXT_SIZE + 2];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%s: %s", context, e->text);
    whole[sizeof e->text - 1] = '\0';
    memcpy(e->text, whole, sizeof e->text);
    flatten(e->text);
    return -1;
}

int err_exit_status(enum err_code code) {
    return (unsigned)code < ERR_CODE_COUNT ? rows[code].exit_status : 3;
}

const char *err_name(enum err_code code) {
    return (unsigned)code < ERR_CODE_COUNT ? rows[code].name : "ERR_UNKNOWN";
}
