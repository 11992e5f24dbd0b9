#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "kernels/disk/disk.h"
#include "kernels/disk/disk_content.h"
#include "kernels/operand_check.h"
#include "kernels/ref/ref.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct queue {
    double busy_s; /* in passes, so far */
};
struct event {
    bool recorded;
    double at_s;
};

static int disk_count(const struct backend_config *c, struct err *e) {
    (void)c, (void)e;
    return 1;
}

static bool takes_direct(const struct disk_scratch *s) {
    struct err ignored;
    int fd = disk_scratch_file(s, O_RDWR | O_DIRECT, &ignored);
    void *page = fd >= 0 ? aligned_alloc(4096, 4096) : NULL;
    bool taken =
        page && pwrite(fd, memset(page, 1, 4096), 4096, 0) == 4096 && pread(fd, page, 4096, 0) == 4096;
    free(page);
    if (fd >= 0)
        close(fd);
    return taken;
}

static void disk_close(struct device *d) {
    if (!d)
        return;
    disk_scratch_close(&d->scratch);
    free(d->folder);
    free(d);
}

static int disk_open(const struct backend_config *c, int index, struct device **out, struct err *e) {
    if (index != 0)
        return err_set(e, ERR_NO_DEVICE, "disk: there is only device 0 of a folder, not %d", index);
    if (!c->folder)
        return err_set(e, ERR_NO_DEVICE, "disk: needs a folder: stepcost run --bench disk --disk DIR");
    struct device *d = xcalloc(1, sizeof *d);
    d->folder = xstrdup(c->folder);
    if (disk_scratch_open(d->folder, &d->scratch, e)) {
        disk_close(d);
        return -1;
    }
    d->direct = takes_direct(&d->scratch);
    disk_mount_read("", d->folder, &d->mount);
    *out = d;
    return 0;
}

static void add_fact(struct device_info *out, const char *key, const char *value) {
    struct device_fact *fact = &out->facts[out->fact_count];
    if (!*value)
        return;
    out->fact_count++;
    snprintf(fact->key, sizeof fact->key, "%s", key);
    snprintf(fact->value, sizeof fact->value, "%s", value);
}

static int disk_describe(struct device *d, struct device_info *out, struct err *e) {
    uint64_t allowed, available;
    char number[32];
    if (disk_room(d->folder, &allowed, &available, e))
        return -1;
    *out = (struct device_info){.memory_bytes = NAN,
                                .free_bytes = (double)available,
                                .cache_bytes = NAN,
                                .clock_hz = NAN,
                                .units = 1};
    snprintf(out->name, sizeof out->name, "%.32s on %.56s", *d->mount.type ? d->mount.type : "disk",
             *d->mount.source ? d->mount.source : d->folder);
    snprintf(number, sizeof number, "%" PRIu64, available);
    add_fact(out, "folder", d->folder);
    add_fact(out, "fs_type", d->mount.type);
    add_fact(out, "fs_kind", d->mount.kind);
    add_fact(out, "fs_source", d->mount.source);
    add_fact(out, "mount_options", d->mount.options);
    add_fact(out, "rotational", d->mount.rotational);
    add_fact(out, "direct_io", d->direct ? "yes" : "no");
    add_fact(out, "free_bytes", number);
    return 0;
}

static void disk_telemetry(struct device *d, struct telemetry *out) {
    (void)d;
    *out = (struct telemetry){NAN, NAN, NAN, NAN};
}

/* ---- operands: a seed and what was seen, in memory ---- */

static int disk_alloc(struct device *d, uint64_t size_bytes, struct buffer **out, struct err *e) {
    (void)d, (void)e;
    *out = xcalloc(1, sizeof **out);
    (*out)->size = size_bytes;
    (*out)->bytes = xcalloc(1, size_bytes);
    return 0;
}

static void disk_free(struct buffer *b) {
    if (b)
        free(b->bytes);
    free(b);
}

static int disk_fill_buffer(struct buffer *b, enum dtype t, enum fill how, uint64_t seed, struct err *e) {
    if (!ref_has_dtype(t))
        return err_set(e, ERR_DEVICE, "disk: cannot fill with %s", dtype_name(t));
    struct ref_filled filled = {t, how, seed};
    for (uint64_t i = 0; i < b->size / (uint64_t)dtype_bytes(t); i++)
        ref_store(b->bytes, t, i, ref_filled_at(&filled, i));
    return 0;
}

static int disk_write(struct buffer *b, uint64_t offset, const void *from, uint64_t size, struct err *e) {
    if (operand_check_range(b->size, offset, size, e))
        return err_wrap(e, "disk: write");
    memcpy(b->bytes + offset, from, size);
    return 0;
}

static int disk_read(struct buffer *b, uint64_t offset, void *to, uint64_t size, struct err *e) {
    if (operand_check_range(b->size, offset, size, e))
        return err_wrap(e, "disk: read");
    struct prepared *written = b->unseen;
    b->unseen = NULL;
    if (written && disk_op_read_back(written, e))
        return -1;
    memcpy(to, b->bytes + offset, size);
    return 0;
}

/* ---- work ---- */

static bool disk_supports(struct device *d, const struct op *op, char *reason, size_t size) {
    return disk_op_supports(d, op, reason, size);
}

static void disk_release(struct prepared *p) {
    if (!p)
        return;
    p->out->unseen = NULL;
    disk_op_release(p);
    free(p);
}

static int disk_prepare(struct device *d, const struct op *op, struct buffer *const *buffers, size_t count,
                        struct prepared **out, struct err *e) {
    char reason[200];
    if (!disk_op_supports(d, op, reason, sizeof reason))
        return err_set(e, ERR_DEVICE, "disk: %s", reason);
    uint64_t sizes[OP_MAX_OPERANDS] = {0};
    for (size_t i = 0; i < count && i < OP_MAX_OPERANDS; i++)
        sizes[i] = buffers[i]->size;
    if (operand_check_buffers(op, sizes, count, e))
        return err_wrap(e, "disk");
    double seed = ref_load(buffers[0]->bytes, DTYPE_FP64, 0);
    struct prepared *p = xcalloc(1, sizeof *p);
    *p = (struct prepared){
        .device = d, .op = *op, .seed = disk_seed(seed), .key = disk_key(seed), .out = buffers[1], .fd = -1};
    if (disk_op_prepare(p, e)) {
        disk_release(p);
        return err_wrap(e, "%s", d->folder);
    }
    *out = p;
    return 0;
}

static int disk_queue_open(struct device *d, struct queue **out, struct err *e) {
    (void)d, (void)e;
    *out = xcalloc(1, sizeof **out);
    return 0;
}

static void disk_queue_close(struct queue *q) {
    free(q);
}

static int disk_event_open(struct device *d, struct event **out, struct err *e) {
    (void)d, (void)e;
    *out = xcalloc(1, sizeof **out);
    return 0;
}

static void disk_event_close(struct event *ev) {
    free(ev);
}

static int disk_enqueue(struct queue *q, struct prepared *p, uint64_t n, struct err *e) {
    for (uint64_t i = 0; i < n; i++) {
        double elapsed_s;
        if (disk_op_pass(p, &elapsed_s, e))
            return err_wrap(e, "%s", p->device->folder);
        q->busy_s += elapsed_s;
    }
    return 0;
}

static int disk_record(struct queue *q, struct event *ev, struct err *e) {
    (void)e;
    *ev = (struct event){true, q->busy_s};
    return 0;
}

static int disk_wait(struct queue *q, struct event *ev, struct err *e) {
    (void)q;
    return ev->recorded ? 0 : err_set(e, ERR_DEVICE, "disk: wait for an event that was not recorded");
}

static int disk_sync(struct queue *q, struct err *e) {
    (void)q, (void)e;
    return 0;
}

static int disk_elapsed(struct event *from, struct event *to, double *out_s, struct err *e) {
    if (!from->recorded || !to->recorded)
        return err_set(e, ERR_DEVICE, "disk: elapsed between events that were not recorded");
    *out_s = to->at_s - from->at_s;
    return 0;
}

static void disk_remark(struct prepared *p, char *out, size_t size) {
    disk_op_remark(p, out, size);
}

const struct backend disk_backend = {
    .abi = BACKEND_ABI,
    .name = "disk",
    .summary =
        "files in a folder: blocks, small files, one tar; read cold where the page cache can be dropped",
    .count = disk_count,
    .open = disk_open,
    .close = disk_close,
    .describe = disk_describe,
    .telemetry = disk_telemetry,
    .alloc = disk_alloc,
    .free = disk_free,
    .fill = disk_fill_buffer,
    .write = disk_write,
    .read = disk_read,
    .supports = disk_supports,
    .prepare = disk_prepare,
    .release = disk_release,
    .queue_open = disk_queue_open,
    .queue_close = disk_queue_close,
    .event_open = disk_event_open,
    .event_close = disk_event_close,
    .enqueue = disk_enqueue,
    .record = disk_record,
    .wait = disk_wait,
    .sync = disk_sync,
    .elapsed = disk_elapsed,
    .remark = disk_remark,
};
