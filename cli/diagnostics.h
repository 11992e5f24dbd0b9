/* What `run` and `show` print for people below a record's cases: each part only where the record has its
 * cases. Diagnostics: nothing is ranked by them. */
#ifndef CLI_DIAGNOSTICS_H
#define CLI_DIAGNOSTICS_H

#include "base/money.h"
#include "model/data.h"
#include "model/record.h"

#include <stdio.h>

/* Shapes that were multiplied in at least two number formats: rate, speed-up over fp32, error. */
void precision_report_print(const struct record *r, int format, FILE *out);
/* Caches that the chase shows, beside what the kernel says. */
void cache_report_print(const struct record *r, FILE *out);
/* What each folder delivers, and what it feeds a loader; per_hour: what the machine costs, or unknown. */
void disk_report_print(const struct record *r, const struct data *data, struct money per_hour, FILE *out);

#endif
