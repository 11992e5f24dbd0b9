#include "kernels/disk/disk_ops.h"

#include "base/clock.h"
#include "kernels/disk/disk_content.h"
#include "kernels/disk/disk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const double prepare_patience_s = 45; /* under the least time after which a silent worker is killed */

/* What is being read ahead when a pass ends cannot be dropped before it has come. */
enum { FORGET_TRIES = 20 };
static const uint64_t forget_pause_ns = 2000000;

static int32_t *seen(const struct prepared *p) {
    return (int32_t *)(void *)p->out->bytes;
}

void disk_see(const struct prepared *p, uint64_t place, uint64_t block, const unsigned char *bytes) {
    seen(p)[place] = disk_check(p->seed, p->key, block, (uint64_t)p->op.n, bytes);
}

double disk_since_s(uint64_t then_ns) {
    return (double)(clock_monotonic_ns() - then_ns) * 1e-9;
}

uint64_t disk_round_up(uint64_t size, uint64_t unit) {
    return (size + unit - 1) / unit * unit;
}

uint64_t disk_chunk_memory(const struct op *op) {
    return op->n > DISK_CHUNK_BYTES ? (uint64_t)op->n : DISK_CHUNK_BYTES;
}

int disk_failed(const char *what, struct err *e) {
    bool room = errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EROFS;
    return err_set(e, room ? ERR_DEVICE_MEMORY : ERR_IO, "cannot %s: %s", what, strerror(errno));
}

int disk_write_all(int fd, const unsigned char *from, uint64_t size, uint64_t offset, struct err *e) {
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pwrite(fd, from + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno != EINTR)
            return disk_failed("write", e);
        done += got > 0 ? (uint64_t)got : 0;
    }
    return 0;
}

int disk_read_all(int fd, unsigned char *to, uint64_t size, uint64_t offset, struct err *e) {
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(fd, to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno != EINTR)
            return disk_failed("read", e);
        if (got == 0)
            return err_set(e, ERR_IO, "a file ends %llu bytes early", (unsigned long long)(size - done));
        done += got > 0 ? (uint64_t)got : 0;
    }
    return 0;
}

int disk_forget_for(struct prepared *p, int fd, struct err *e) {
    bool in_memory = strcmp(p->device->mount.kind, "memory") == 0;
    bool look = !in_memory && (!p->direct || p->passes % 16 == 0);
    uint64_t resident = 0;
    for (int tries = 0; tries < FORGET_TRIES; tries++) {
        if (disk_forget(fd, look ? &resident : NULL, e))
            return -1;
        /* Where it has failed for good once, it is not waited for again. */
        if (resident == 0 || p->resident > 0)
            break;
        clock_sleep_ns(forget_pause_ns);
    }
    p->resident = resident > p->resident ? resident : p->resident;
    return 0;
}

int disk_check_patience(uint64_t begin_ns, struct err *e) {
    if (disk_since_s(begin_ns) < prepare_patience_s)
        return 0;
    return err_set(e, ERR_DEVICE_MEMORY,
                   "its files were not written within %.0f s: too slow for so much; give --disk-bytes less",
                   prepare_patience_s);
}

int disk_open_file(struct prepared *p, struct err *e) {
    p->direct = p->row->may_be_direct && p->device->direct && p->op.n % DISK_PAGE == 0;
    p->fd = disk_scratch_file(&p->device->scratch, O_RDWR | (p->direct ? O_DIRECT : 0), e);
    return p->fd < 0 ? -1 : 0;
}
