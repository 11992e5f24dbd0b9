/* Records, offers and tables for tests of reports/: a made-up world of round numbers (tests/data/toy). */
#ifndef TESTS_REPORTS_FIXTURE_H
#define TESTS_REPORTS_FIXTURE_H

#include "tests/base/check.h"

#include "reports/report.h"

/* gpus.csv, aliases.csv, references.csv and uncertainty.csv of tests/data/toy. */
extern const struct data toy_data;
/* Of the program itself. */
extern const struct data own_data;

/* A case of a record: by default measured, one rank, 64 samples with 0.1 % of noise. */
struct fixture_case {
    const char *id;
    struct op op;
    double rate; /* FLOP/s or bytes/s */
    size_t samples;
    int ranks;
    double slowest; /* the last rank's rate as a part of the others'; 0 = 1 */
    /* factor on the seconds of sample i of n; NULL = 1 */
    double (*slowdown)(size_t i, size_t n);
    /* telemetry at sample i of n (the rest is null); NULL = none */
    double (*clock_hz)(size_t i, size_t n);
    double (*throttled_s)(size_t i, size_t n);
    enum case_status status;
    const char *reason;
    const struct record_host *host; /* NULL = none */
};

struct fixture_record {
    const char *device;
    double memory_bytes;
    bool is_gpu, simulated;
    int devices;                               /* 0 = 1 */
    const char *provider, *sku, *region;       /* NULL = no offer */
    const char *core, *features, *forced_core; /* facts of a CPU; NULL = none */
    const char *emulated;                      /* number formats, "bf16 fp16"; NULL = none */
    const struct fixture_case *cases;
    size_t case_count;
};

/* Writes it with the program's own writer to a file of its own and reads it back. Free with record_free. */
void fixture_write(const struct fixture_record *f, struct record *out);

#endif
