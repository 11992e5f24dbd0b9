#include "base/err.h"

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

/* An error is one line: a newline inside a quoted piece of input must not break it in two. */
static void flatten(char *text) {
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
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
    char context[ERR_TEXT_SIZE];
    char inner[ERR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    memcpy(inner, e->text, sizeof inner);
    int used = snprintf(e->text, sizeof e->text, "%s: ", context);
    if (used > 0 && (size_t)used < sizeof e->text)
        snprintf(e->text + used, sizeof e->text - (size_t)used, "%s", inner);
    flatten(e->text);
    return -1;
}

int err_exit_status(enum err_code code) {
    return (unsigned)code < ERR_CODE_COUNT ? rows[code].exit_status : 3;
}

const char *err_name(enum err_code code) {
    return (unsigned)code < ERR_CODE_COUNT ? rows[code].name : "ERR_UNKNOWN";
}
