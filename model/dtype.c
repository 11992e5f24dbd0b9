#include "model/dtype.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

struct dtype_row {
    const char *name;
    int bits, significand;
    int integer;
};

#define DTYPE_ROW(member, name, bits, significand, integer) {name, bits, significand, integer},
static const struct dtype_row rows[DTYPE_COUNT] = {DTYPES(DTYPE_ROW)};
#undef DTYPE_ROW

const char *dtype_name(enum dtype t) {
    return t < DTYPE_COUNT ? rows[t].name : "?";
}

double dtype_bytes(enum dtype t) {
    return rows[t].bits / 8.0;
}

double dtype_roundoff(enum dtype t) {
    return rows[t].integer ? 0.0 : ldexp(1.0, -rows[t].significand);
}

int dtype_parse(const char *name, enum dtype *out, struct err *e) {
    const char *names[DTYPE_COUNT];
    for (int i = 0; i < DTYPE_COUNT; i++) {
        names[i] = rows[i].name;
        if (strcmp(name, rows[i].name) == 0) {
            *out = (enum dtype)i;
            return 0;
        }
    }
    const char *nearest = text_nearest(name, names, DTYPE_COUNT);
    struct text list = {0};
    for (int i = 0; i < DTYPE_COUNT; i++)
        text_printf(&list, "%s%s", i ? ", " : "", names[i]);
    err_set(e, ERR_USAGE, "unknown number format '%.40s'%s%s%s (%s)", name,
            nearest ? "; did you mean '" : "; give one that is known", nearest ? nearest : "",
            nearest ? "'?" : "", text_get(&list));
    text_free(&list);
    return -1;
}
