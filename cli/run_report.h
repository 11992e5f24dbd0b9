/* What a record says, for people and machines: its cases with their rates, and its findings. */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include "base/err.h"
#include "base/money.h"
#include "model/data.h"
#include "model/record.h"

#include <stdio.h>

struct run_view {
    int format;            /* index into writer_names                      */
    bool all_findings;     /* not only the first few of each kind          */
    struct money per_hour; /* what the machine costs; may be unknown       */
};

/* A rate in the record's unit, for people: writes UNITS_TEXT_SIZE bytes and returns out. */
char *run_report_rate(const char *unit, double per_s, char *out);

/* For people also one line on the device, and the findings. */
int run_report_print(const struct record *r, const struct data *data, const struct run_view *view, FILE *out,
                     struct err *e) MUST_CHECK;

#endif
