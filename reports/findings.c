#include "reports/findings_parts.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* In this order: what comes first explains what comes later (a throttled case is not called unsteady, and
 * neither is held against the device). */
static void (*const case_detectors[])(struct inspection *, size_t) = {
    find_failure, find_throttled, find_contaminated, find_unsteady, find_outliers,
};
static void (*const record_detectors[])(struct inspection *) = {
    find_scattered_outliers, find_wrong_device, find_slow_device, find_above_peak, find_blas_core,
};

void finding_add(struct inspection *in, const char *id, const char *case_id, const char *format, ...) {
    struct text text = {0};
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    struct findings *out = in->out;
    out->items = xgrow(out->items, sizeof *out->items, out->count, &out->capacity);
    out->items[out->count++] = (struct finding){.id = arena_strdup(&out->arena, id),
                                                .case_id = arena_strdup(&out->arena, case_id),
                                                .text = arena_strdup(&out->arena, text_get(&text))};
    text_free(&text);
}

int findings_read(const struct record *r, const struct gpu_table *gpus, const struct data *data,
                  struct findings *out, struct err *e) {
    memset(out, 0, sizeof *out);
    struct inspection in = {.record = r, .gpus = gpus, .is_gpu = record_is_gpu(r), .out = out};
    if (references_load(data, &in.references, e))
        return -1;
    in.gpu = record_gpu(r, gpus);
    in.explained = xcalloc(r->case_count + 1, sizeof *in.explained);
    for (size_t c = 0; c < r->case_count; c++)
        for (size_t i = 0; i < sizeof case_detectors / sizeof case_detectors[0]; i++)
            case_detectors[i](&in, c);
    for (size_t i = 0; i < sizeof record_detectors / sizeof record_detectors[0]; i++)
        record_detectors[i](&in);
    free(in.explained);
    references_free(&in.references);
    return 0;
}

void findings_free(struct findings *f) {
    if (!f)
        return;
    free(f->items);
    arena_free(&f->arena);
    memset(f, 0, sizeof *f);
}
