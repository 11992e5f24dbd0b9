/* The data files inside the program: rows made by the build (stepcost_embed), the last one all NULL. */
#ifndef MODEL_EMBEDDED_H
#define MODEL_EMBEDDED_H

struct embedded_row {
    const char *name, *begin, *end; /* a NUL byte stands at end */
};
extern const struct embedded_row embedded_rows[];

#endif
