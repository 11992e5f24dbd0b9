#include "base/clock.h"
#include "kernels/chase.h"
#include "kernels/disk/disk_content.h"
#include "kernels/disk/disk_file.h"
#include "kernels/disk/disk_ops.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t tar_stride(const struct op *op) {
    return TAR_BLOCK + disk_round_up((uint64_t)op->n, TAR_BLOCK);
}
static double small_space(const struct op *op) {
    return (double)op->k * (double)disk_round_up((uint64_t)op->n, DISK_PAGE);
}
static double tar_space(const struct op *op) {
    return (double)op->k * (double)tar_stride(op) + 2 * TAR_BLOCK;
}
static uint64_t tar_memory(const struct op *op) {
    uint64_t stride = tar_stride(op);
    return stride > DISK_CHUNK_BYTES ? stride : DISK_CHUNK_BYTES;
}

static int make_small(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n, begin_ns = clock_monotonic_ns();
    int folder = p->device->scratch.fd;
    char name[DISK_NAME_SIZE];
    for (uint64_t i = 0; i < (uint64_t)p->op.k; i++) {
        disk_file_name(i, name);
        disk_fill(p->seed, i, size, p->bytes);
        int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0)
            return disk_failed("make a file", e);
        int result = disk_write_all(fd, p->bytes, size, 0, e);
        if (close(fd) && !result)
            result = disk_failed("write", e);
        if (result || disk_check_patience(begin_ns, e))
            return -1;
    }
    /* One by one, they would take a flush of the disk each. */
    return syncfs(folder) ? disk_failed("write the files out", e) : disk_check_patience(begin_ns, e);
}

void disk_remove_small(const struct prepared *p) {
    char name[DISK_NAME_SIZE];
    for (uint64_t i = 0; i < (uint64_t)p->op.k; i++) {
        disk_file_name(i, name);
        unlinkat(p->device->scratch.fd, name, 0);
    }
}

static uint64_t small_at(const struct prepared *p, uint64_t place) {
    return chase_node((uint64_t)p->op.k, (p->next + place) % (uint64_t)p->op.k);
}

static int open_small(const struct prepared *p, uint64_t index, struct err *e) {
    char name[DISK_NAME_SIZE];
    disk_file_name(index, name);
    int fd = openat(p->device->scratch.fd, name, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? disk_failed("open a file", e) : fd;
}

static int drop_small(struct prepared *p, struct err *e) {
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++) {
        int fd = open_small(p, small_at(p, i), e);
        int result = fd < 0 ? -1 : disk_forget_for(p, fd, e);
        if (fd >= 0)
            close(fd);
        if (result)
            return -1;
    }
    return 0;
}

static int pass_small(struct prepared *p, double *elapsed_s, struct err *e) {
    if (drop_small(p, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++) {
        uint64_t index = small_at(p, i);
        int fd = open_small(p, index, e);
        if (fd < 0)
            return -1;
        int result = disk_read_all(fd, p->bytes, (uint64_t)p->op.n, 0, e);
        close(fd);
        if (result)
            return -1;
        disk_see(p, i, index, p->bytes);
    }
    *elapsed_s = disk_since_s(begin_ns);
    return 0;
}

static uint64_t tar_at_once(const struct op *op) {
    uint64_t stride = tar_stride(op);
    return stride < DISK_CHUNK_BYTES ? DISK_CHUNK_BYTES / stride : 1;
}

static int make_tar(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n, stride = tar_stride(&p->op), all = (uint64_t)p->op.k;
    uint64_t at_once = tar_at_once(&p->op), begin_ns = clock_monotonic_ns();
    char name[DISK_NAME_SIZE];
    if (disk_open_file(p, e))
        return -1;
    for (uint64_t first = 0; first < all; first += at_once) {
        uint64_t count = all - first < at_once ? all - first : at_once;
        memset(p->bytes, 0, count * stride);
        for (uint64_t i = 0; i < count; i++) {
            disk_file_name(first + i, name);
            if (tar_header(name, size, p->bytes + i * stride, e))
                return -1;
            disk_fill(p->seed, first + i, size, p->bytes + i * stride + TAR_BLOCK);
        }
        if (disk_write_all(p->fd, p->bytes, count * stride, first * stride, e) ||
            disk_check_patience(begin_ns, e))
            return -1;
    }
    memset(p->bytes, 0, TAR_BLOCK);
    memset(p->bytes + TAR_BLOCK, 0, TAR_BLOCK);
    if (disk_write_all(p->fd, p->bytes, (uint64_t)2 * TAR_BLOCK, all * stride, e))
        return -1;
    return fsync(p->fd) ? disk_failed("write", e) : 0;
}

/* As a loader does: a stretch at a time, the files taken out of it by their headers. */
static int pass_tar(struct prepared *p, double *elapsed_s, struct err *e) {
    uint64_t all = (uint64_t)p->op.k, want = (uint64_t)p->op.m, stride = tar_stride(&p->op);
    uint64_t at_once = tar_at_once(&p->op);
    if (disk_forget_for(p, p->fd, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t done = 0; done < want;) {
        uint64_t first = (p->next + done) % all, count = want - done;
        count = count < at_once ? count : at_once;
        count = count < all - first ? count : all - first;
        if (disk_read_all(p->fd, p->bytes, count * stride, first * stride, e))
            return -1;
        for (uint64_t i = 0; i < count; i++) {
            const unsigned char *member = p->bytes + i * stride;
            if (strtoull((const char *)member, NULL, 10) == first + i)
                disk_see(p, done + i, first + i, member + TAR_BLOCK);
        }
        done += count;
    }
    *elapsed_s = disk_since_s(begin_ns);
    return 0;
}

const struct disk_op disk_many_ops[DISK_MANY_OPS] = {
    {OP_FILE_SMALL, false, false, small_space, disk_chunk_memory, make_small, pass_small},
    {OP_FILE_TAR, false, false, tar_space, tar_memory, make_tar, pass_tar},
};
