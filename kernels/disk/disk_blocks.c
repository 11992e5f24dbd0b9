#include "base/clock.h"
#include "kernels/chase.h"
#include "kernels/disk/disk_content.h"
#include "kernels/disk/disk_file.h"
#include "kernels/disk/disk_ops.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double one_pass_space(const struct op *op) {
    return (double)op->m * (double)op->n;
}
static double whole_space(const struct op *op) {
    return (double)op->k * (double)op->n;
}

static uint64_t pass_memory(const struct op *op) {
    return (uint64_t)(op->m * op->n);
}
static uint64_t depth_memory(const struct op *op) {
    uint64_t each = disk_round_up((uint64_t)op->n, DISK_PAGE) * (uint64_t)op->batch;
    return each > DISK_CHUNK_BYTES ? each : DISK_CHUNK_BYTES;
}

static int make_blocks(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n, all = (uint64_t)p->op.k, begin_ns = clock_monotonic_ns();
    uint64_t at_once = size < DISK_CHUNK_BYTES ? DISK_CHUNK_BYTES / size : 1;
    if (disk_open_file(p, e))
        return -1;
    for (uint64_t block = 0; block < all; block += at_once) {
        uint64_t count = all - block < at_once ? all - block : at_once;
        for (uint64_t i = 0; i < count; i++)
            disk_fill(p->seed, block + i, size, p->bytes + i * size);
        if (disk_write_all(p->fd, p->bytes, count * size, block * size, e) ||
            disk_check_patience(begin_ns, e))
            return -1;
    }
    return fsync(p->fd) ? disk_failed("write", e) : 0;
}

static int make_contents(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n;
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++)
        disk_fill(p->seed, i, size, p->bytes + i * size);
    return disk_open_file(p, e);
}

/* Anew each time: neither growing without end nor writing over what is allocated. */
static int empty(const struct prepared *p, struct err *e) {
    return ftruncate(p->fd, 0) || fsync(p->fd) ? disk_failed("empty a file", e) : 0;
}

static int pass_write(struct prepared *p, double *elapsed_s, struct err *e) {
    uint64_t size = (uint64_t)p->op.n;
    if (empty(p, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++)
        if (disk_write_all(p->fd, p->bytes + i * size, size, i * size, e))
            return -1;
    if (fdatasync(p->fd))
        return disk_failed("write", e);
    *elapsed_s = disk_since_s(begin_ns);
    return 0;
}

static int pass_sync(struct prepared *p, double *elapsed_s, struct err *e) {
    uint64_t size = (uint64_t)p->op.n;
    if (empty(p, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++) {
        if (disk_write_all(p->fd, p->bytes + i * size, size, i * size, e))
            return -1;
        if (fdatasync(p->fd))
            return disk_failed("write", e);
    }
    *elapsed_s = disk_since_s(begin_ns);
    return 0;
}

int disk_op_read_back(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n;
    unsigned char *block = aligned_alloc(DISK_PAGE, disk_round_up(size, DISK_PAGE));
    uint64_t ignored;
    int result =
        block ? disk_drop(p->fd, &ignored, e) : err_set(e, ERR_DEVICE_MEMORY, "no memory for a block");
    for (uint64_t i = 0; !result && i < (uint64_t)p->op.m; i++) {
        result = disk_read_all(p->fd, block, size, i * size, e);
        if (!result)
            disk_see(p, i, i, block);
    }
    free(block);
    return result ? err_wrap(e, "reading back what was written") : 0;
}

static int pass_read(struct prepared *p, double *elapsed_s, struct err *e) {
    uint64_t size = (uint64_t)p->op.n, all = (uint64_t)p->op.k;
    if (disk_forget_for(p, p->fd, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++) {
        uint64_t block = (p->next + i) % all;
        if (disk_read_all(p->fd, p->bytes, size, block * size, e))
            return -1;
        disk_see(p, i, block, p->bytes);
    }
    *elapsed_s = disk_since_s(begin_ns);
    return 0;
}

/* One of the threads of a random read: every depth-th access. */
struct reader {
    struct prepared *p;
    pthread_t thread;
    pthread_mutex_t *start; /* held until all are there; NULL = begin at once */
    uint64_t first, end_ns;
    int result;
    struct err e;
};

static void *run_reader(void *context) {
    struct reader *r = context;
    struct prepared *p = r->p;
    uint64_t size = (uint64_t)p->op.n, all = (uint64_t)p->op.k, depth = (uint64_t)p->op.batch;
    unsigned char *bytes = p->bytes + r->first * disk_round_up(size, DISK_PAGE);
    if (r->start) {
        pthread_mutex_lock(r->start);
        pthread_mutex_unlock(r->start);
    }
    for (uint64_t i = r->first; !r->result && i < (uint64_t)p->op.m; i += depth) {
        uint64_t block = chase_node(all, (p->next + i) % all);
        r->result = disk_read_all(p->fd, bytes, size, block * size, &r->e);
        if (!r->result)
            disk_see(p, i, block, bytes);
    }
    r->end_ns = clock_monotonic_ns();
    return NULL;
}

/* Making the threads is not timed: they wait for each other first. */
static int run_readers(struct reader *readers, unsigned depth, uint64_t *begin_ns, struct err *e) {
    pthread_mutex_t start = PTHREAD_MUTEX_INITIALIZER;
    unsigned started = 0;
    int reason = 0;
    pthread_mutex_lock(&start);
    while (started < depth && !reason) {
        readers[started].start = &start;
        reason = pthread_create(&readers[started].thread, NULL, run_reader, &readers[started]);
        started += !reason;
    }
    *begin_ns = clock_monotonic_ns();
    pthread_mutex_unlock(&start);
    for (unsigned i = 0; i < started; i++)
        pthread_join(readers[i].thread, NULL);
    pthread_mutex_destroy(&start);
    return reason ? err_set(e, ERR_IO, "cannot start %u threads: %s", depth, strerror(reason)) : 0;
}

static int pass_random(struct prepared *p, double *elapsed_s, struct err *e) {
    struct reader readers[DISK_DEPTH_MAX];
    unsigned depth = (unsigned)p->op.batch;
    if (disk_forget_for(p, p->fd, e))
        return -1;
    posix_fadvise(p->fd, 0, 0, POSIX_FADV_RANDOM);
    for (unsigned i = 0; i < depth; i++)
        readers[i] = (struct reader){.p = p, .first = i};
    uint64_t begin_ns = clock_monotonic_ns(), end_ns = 0;
    if (depth == 1)
        run_reader(&readers[0]);
    else if (run_readers(readers, depth, &begin_ns, e))
        return -1;
    for (unsigned i = 0; i < depth; i++) {
        if (readers[i].result) {
            *e = readers[i].e;
            return -1;
        }
        end_ns = readers[i].end_ns > end_ns ? readers[i].end_ns : end_ns;
    }
    *elapsed_s = (double)(end_ns - begin_ns) * 1e-9;
    return 0;
}

const struct disk_op disk_block_ops[DISK_BLOCK_OPS] = {
    {OP_FILE_WRITE, true, true, one_pass_space, pass_memory, make_contents, pass_write},
    {OP_FILE_READ, false, true, whole_space, disk_chunk_memory, make_blocks, pass_read},
    {OP_FILE_RANDOM_READ, false, true, whole_space, depth_memory, make_blocks, pass_random},
    {OP_FILE_SYNC, true, false, one_pass_space, pass_memory, make_contents, pass_sync},
};
