#include "reports/writers.h"

#define WRITER_NAME(name, function) name,
const char *const writer_names[] = {WRITERS(WRITER_NAME) NULL};

#define WRITER_FUNCTION(name, function) function,
static void (*const writers[])(const struct table *t, FILE *out) = {WRITERS(WRITER_FUNCTION)};

void table_write(const struct table *t, int format, FILE *out) {
    writers[format](t, out);
}
