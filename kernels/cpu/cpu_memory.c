#include "base/cgroup.h"
#include "base/mem.h"
#include "base/rng.h"
#include "kernels/cpu/cpu.h"
#include "kernels/operand_check.h"
#include "kernels/ref/ref.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, CACHE_LINE = 64, NORMALS_BLOCK = 4096 };

/* Linux hands out memory that it does not have and kills whoever touches it: so the limit is kept here.
 * Allocations that are not touched yet do not show in what is available now. */
int cpu_alloc(struct device *d, uint64_t size_bytes, struct buffer **out, struct err *e) {
    uint64_t left =
        d->free_at_open_bytes > d->allocated_bytes ? d->free_at_open_bytes - d->allocated_bytes : 0;
    uint64_t now = cgroup_read("").memory_available_bytes;
    uint64_t free_bytes = left < now ? left : now;
    if (size_bytes > free_bytes)
        return err_set(e, ERR_DEVICE_MEMORY, "cpu: %" PRIu64 " bytes wanted, %" PRIu64 " free", size_bytes,
                       free_bytes);
    size_t alignment = size_bytes >= HUGE_PAGE ? HUGE_PAGE : CACHE_LINE;
    size_t rounded = (size_bytes / alignment + 1) * alignment;
    unsigned char *bytes = aligned_alloc(alignment, rounded);
    if (!bytes)
        return err_set(e, ERR_DEVICE_MEMORY, "cpu: no memory for %" PRIu64 " bytes", size_bytes);
    if (alignment == HUGE_PAGE)
        madvise(bytes, rounded, MADV_HUGEPAGE);
    d->allocated_bytes += size_bytes;
    *out = xmalloc(sizeof **out);
    **out = (struct buffer){d, size_bytes, bytes};
    return 0;
}

void cpu_free(struct buffer *b) {
    if (!b)
        return;
    b->device->allocated_bytes -= b->size;
    free(b->bytes);
    free(b);
}

static void fill_fp64(double *out, struct cpu_share s, enum fill how, uint64_t seed) {
    if (how == FILL_NORMAL)
        rng_fill_normal(seed, s.begin, out + s.begin, s.end - s.begin);
    else
        for (uint64_t i = s.begin; i < s.end; i++)
            out[i] = rng_integer_at(seed, i, 4);
}

static void fill_fp32(float *out, struct cpu_share s, enum fill how, uint64_t seed) {
    if (how == FILL_NORMAL)
        rng_fill_normal_f32(seed, s.begin, out + s.begin, s.end - s.begin);
    else
        for (uint64_t i = s.begin; i < s.end; i++)
            out[i] = (float)rng_integer_at(seed, i, 4);
}

/* The oracle's own elements: of operands that are small beside what is done with them. */
static void fill_other(void *out, enum dtype t, struct cpu_share s, enum fill how, uint64_t seed) {
    struct ref_filled filled = {t, how, seed};
    for (uint64_t i = s.begin; i < s.end; i++)
        ref_store(out, t, i, ref_filled_at(&filled, i));
}

int cpu_fill(struct buffer *b, enum dtype t, enum fill how, uint64_t seed, struct err *e) {
    if (!ref_has_dtype(t))
        return err_set(e, ERR_DEVICE, "cpu: cannot fill with %s", dtype_name(t));
    uint64_t width = (uint64_t)dtype_bytes(t), count = b->size / width;
#pragma omp parallel num_threads(b->device->threads)
    {
        struct cpu_share s = cpu_share(count, cpu_thread(), b->device->threads);
        if (how == FILL_ZERO)
            memset(b->bytes + s.begin * width, 0, (s.end - s.begin) * width);
        else if (t == DTYPE_FP64)
            fill_fp64((double *)(void *)b->bytes, s, how, seed);
        else if (t == DTYPE_FP32)
            fill_fp32((float *)(void *)b->bytes, s, how, seed);
        else
            fill_other(b->bytes, t, s, how, seed);
    }
    return 0;
}

int cpu_write(struct buffer *b, uint64_t offset, const void *from, uint64_t size, struct err *e) {
    if (operand_check_range(b->size, offset, size, e))
        return err_wrap(e, "cpu: write");
    memcpy(b->bytes + offset, from, size);
    return 0;
}

int cpu_read(struct buffer *b, uint64_t offset, void *to, uint64_t size, struct err *e) {
    if (operand_check_range(b->size, offset, size, e))
        return err_wrap(e, "cpu: read");
    memcpy(to, b->bytes + offset, size);
    return 0;
}
