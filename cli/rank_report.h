/* A ranking for people and machines. */
#ifndef CLI_RANK_REPORT_H
#define CLI_RANK_REPORT_H

#include "reports/report.h"

#include <stdio.h>

struct rank_view {
    int format;              /* index into writer_names                                       */
    size_t top;              /* rows of each kind that people are shown; 0 = all              */
    const char *prices_note; /* where the prices come from, NULL = nothing to say */
};

/* people: the best rows, this machine wherever it stands, spot rows apart, ties, what was not ranked and
 * why, what to measure next. Machines get every row. */
void rank_report_print(const struct ranking *r, const struct rank_request *request,
                       const struct rank_view *view, FILE *out);

#endif
