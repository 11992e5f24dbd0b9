#include "kernels/disk/disk_ops.h"

#include "base/units.h"
#include "kernels/chase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double pass_bytes_max = 1 << 30;

static const struct disk_op *find_row(const struct op *op) {
    for (size_t i = 0; i < DISK_BLOCK_OPS; i++)
        if (disk_block_ops[i].kind == op->kind)
            return &disk_block_ops[i];
    for (size_t i = 0; i < DISK_MANY_OPS; i++)
        if (disk_many_ops[i].kind == op->kind)
            return &disk_many_ops[i];
    return NULL;
}

static bool says(char *reason, size_t size, const char *text) {
    snprintf(reason, size, "%s", text);
    return false;
}

static bool fits_folder(const struct device *d, const struct disk_op *row, const struct op *op, char *reason,
                        size_t size) {
    uint64_t room, available;
    struct err e;
    char needed[UNITS_TEXT_SIZE], allowed[UNITS_TEXT_SIZE], there[UNITS_TEXT_SIZE];
    if (disk_room(d->folder, &room, &available, &e))
        return says(reason, size, e.text);
    if (row->space_bytes(op) <= (double)room)
        return true;
    snprintf(reason, size,
             "needs %s in %.80s; at most 5 %% of the free %s, 4 GB and the limit on a file's size: %s",
             units_format_bytes(row->space_bytes(op), needed), d->folder,
             units_format_bytes((double)available, there), units_format_bytes((double)room, allowed));
    return false;
}

bool disk_op_supports(const struct device *d, const struct op *op, char *reason, size_t size) {
    const struct disk_op *row = find_row(op);
    if (!row)
        return says(reason, size, "a folder computes nothing");
    if (op->n % 4 || op->n > 1 << 30 || op_bytes(op) > pass_bytes_max)
        return says(reason, size, "blocks are whole 4-byte words, at most 1 GiB in one execution");
    if (op->batch > DISK_DEPTH_MAX || (op->batch > 1 && op->kind != OP_FILE_RANDOM_READ))
        return says(reason, size, "only random reads have a depth, of 64 at most");
    if (!row->writes && (op->m > op->k || op->k > CHASE_MAX_NODES))
        return says(reason, size, "reads at most as many blocks as there are, of 2^30 at most");
    return fits_folder(d, row, op, reason, size);
}

int disk_op_prepare(struct prepared *p, struct err *e) {
    p->row = find_row(&p->op);
    p->bytes = aligned_alloc(DISK_PAGE, disk_round_up(p->row->memory_bytes(&p->op), DISK_PAGE));
    if (!p->bytes)
        return err_set(e, ERR_DEVICE_MEMORY, "no memory for the blocks of %s", op_kind_name(p->op.kind));
    return p->row->make(p, e);
}

void disk_op_release(struct prepared *p) {
    if (p->fd >= 0)
        close(p->fd);
    if (p->op.kind == OP_FILE_SMALL)
        disk_remove_small(p);
    free(p->bytes);
}

int disk_op_pass(struct prepared *p, double *elapsed_s, struct err *e) {
    memset(p->out->bytes, 0, (size_t)p->op.m * sizeof(int32_t));
    p->out->unseen = NULL;
    if (p->row->pass(p, elapsed_s, e))
        return -1;
    p->passes++;
    if (p->row->writes)
        p->out->unseen = p;
    else
        p->next = (p->next + (uint64_t)p->op.m) % (uint64_t)p->op.k;
    return 0;
}

void disk_op_remark(const struct prepared *p, char *out, size_t size) {
    const struct disk_mount *mount = &p->device->mount;
    const char *buffered =
        p->row->may_be_direct && !p->direct ? "through the page cache: no direct I/O here" : "";
    *out = '\0';
    if (strcmp(mount->kind, "memory") == 0)
        snprintf(out, size, "warm only: %s keeps its files in memory", mount->type);
    else if (p->resident > 0 && !p->row->writes)
        snprintf(out, size, "warm only: %llu pages stayed in the page cache when told to go (mincore)%s%s",
                 (unsigned long long)p->resident, *buffered ? "; " : "", buffered);
    else
        snprintf(out, size, "%s", buffered);
}
