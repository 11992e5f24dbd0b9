/* Errors: one code and one line of text, on the caller's stack.
 *
 * A function that can fail returns int, 0 or -1, and takes `struct err *e` last. It fills e on
 * failure with `return err_set(e, ERR_PARSE, "line %zu: ...", n);`; callers add context in front
 * with err_wrap. Only main prints an error or turns a code into an exit status.
 * "Cannot run here" is not an error: it is the status `not_tested` of a case. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* name, exit status of the program, what the code means */
#define ERR_CODES(X)                                                                                         \
    X(ERR_NONE, 0, "no error")                                                                               \
    X(ERR_VERDICT, 1, "a verdict failed")                                                                    \
    X(ERR_USAGE, 2, "bad option or argument")                                                                \
    X(ERR_PARSE, 2, "bad input file or value")                                                               \
    X(ERR_NOT_FOUND, 2, "no such file, name or row")                                                         \
    X(ERR_IO, 3, "reading or writing failed")                                                                \
    X(ERR_DEVICE, 3, "the device or its library failed")                                                     \
    X(ERR_DEVICE_MEMORY, 3, "the device has too little free memory")                                         \
    X(ERR_NO_DEVICE, 3, "no measurement of the main device was possible")                                    \
    X(ERR_PEER, 3, "a worker or peer was lost")                                                              \
    X(ERR_UNFINISHED, 4, "inconclusive or unfinished")

#define ERR_ENUM_MEMBER(name, status, meaning) name,
enum err_code { ERR_CODES(ERR_ENUM_MEMBER) ERR_CODE_COUNT };
#undef ERR_ENUM_MEMBER

enum { ERR_TEXT_SIZE = 1024 };

struct err {
    enum err_code code;
    char text[ERR_TEXT_SIZE]; /* one line of UTF-8, no trailing newline; cut, never overrun */
};

/* Sets code and text. Always returns -1, so that `return err_set(...)` is one statement. */
int err_set(struct err *e, enum err_code code, const char *format, ...) PRINTF_LIKE(3, 4);

/* Puts "context: " in front of the text that is there. Always returns -1. */
int err_wrap(struct err *e, const char *format, ...) PRINTF_LIKE(2, 3);

/* The exit status that the program ends with for this code (design: 0, 1, 2, 3 or 4). */
int err_exit_status(enum err_code code);

/* "ERR_PARSE" and so on; never NULL. */
const char *err_name(enum err_code code);

#endif
