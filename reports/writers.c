#include "reports/writers.h"

#define WRITER_NAME(name, function, people) name,
const char *const writer_names[] = {WRITERS(WRITER_NAME) NULL};

#define WRITER_ROW(name, function, people) {function, people},
static const struct {
    void (*write)(const struct table *t, FILE *out);
    bool for_people;
} writers[] = {WRITERS(WRITER_ROW)};

bool writer_is_for_people(int format) {
    return writers[format].for_people;
}

void table_write(const struct table *t, int format, FILE *out) {
    writers[format].write(t, out);
}
