/* The detectors behind findings_read, private to findings*.c. A detector looks at one case, or at the whole
 * record; it adds findings and never fails. */
#ifndef REPORTS_FINDINGS_PARTS_H
#define REPORTS_FINDINGS_PARTS_H

#include "reports/record_view.h"
#include "reports/references.h"
#include "reports/report.h"

struct inspection {
    const struct record *record;
    const struct gpu_table *gpus;
    struct references references;
    const struct gpu *gpu; /* NULL: a CPU or unknown */
    bool is_gpu;
    size_t samples, outliers; /* over all cases so far, but for cases that are explained */
    bool *explained; /* per case: throttled, contaminated, unsteady or with outliers: its rate says nothing of
                        the device */
    struct findings *out;
};

PRINTF_LIKE(4, 5)
void finding_add(struct inspection *in, const char *id, const char *case_id, const char *format, ...);

/* findings_case.c: of case `index` */
void find_failure(struct inspection *in, size_t index);
void find_throttled(struct inspection *in, size_t index);
void find_contaminated(struct inspection *in, size_t index);
void find_unsteady(struct inspection *in, size_t index);
void find_outliers(struct inspection *in, size_t index);

void find_scattered_outliers(struct inspection *in); /* few a case, many in all */

/* findings_device.c: of the whole record */
void find_wrong_device(struct inspection *in);
void find_slow_device(struct inspection *in);
void find_above_peak(struct inspection *in);
void find_blas_core(struct inspection *in);

#endif
