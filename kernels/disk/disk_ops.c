#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "kernels/chase.h"
#include "kernels/disk/disk.h"
#include "kernels/disk/disk_content.h"
#include "kernels/disk/disk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, CHUNK_BYTES = 1 << 20, DEPTH_MAX = 64 };
static const double prepare_patience_s = 45; /* under the least time after which a silent worker is killed */
static const double pass_bytes_max = 1 << 30;

/* One kind of file op. make: the files, once. pass: takes its own time. */
struct disk_op {
    enum op_kind kind;
    bool writes, may_be_direct;
    double (*space_bytes)(const struct op *op);
    uint64_t (*memory_bytes)(const struct op *op);
    int (*make)(struct prepared *p, struct err *e);
    int (*pass)(struct prepared *p, double *elapsed_s, struct err *e);
};

static int32_t *seen(const struct prepared *p) {
    return (int32_t *)(void *)p->out->bytes;
}

static void see(const struct prepared *p, uint64_t place, uint64_t block, const unsigned char *bytes) {
    seen(p)[place] = disk_check(p->seed, p->key, block, (uint64_t)p->op.n, bytes);
}

static double since_s(uint64_t then_ns) {
    return (double)(clock_monotonic_ns() - then_ns) * 1e-9;
}

static uint64_t round_up(uint64_t size, uint64_t unit) {
    return (size + unit - 1) / unit * unit;
}

/* ---- input and output ---- */

static int failed(const char *what, struct err *e) {
    bool room = errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EROFS;
    return err_set(e, room ? ERR_DEVICE_MEMORY : ERR_IO, "cannot %s: %s", what, strerror(errno));
}

static int write_all(int fd, const unsigned char *from, uint64_t size, uint64_t offset, struct err *e) {
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pwrite(fd, from + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno != EINTR)
            return failed("write", e);
        done += got > 0 ? (uint64_t)got : 0;
    }
    return 0;
}

static int read_all(int fd, unsigned char *to, uint64_t size, uint64_t offset, struct err *e) {
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(fd, to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno != EINTR)
            return failed("read", e);
        if (got == 0)
            return err_set(e, ERR_IO, "a file ends %llu bytes early", (unsigned long long)(size - done));
        done += got > 0 ? (uint64_t)got : 0;
    }
    return 0;
}

/* Before a pass that reads. Whether it worked is looked at in one pass of 16, the first among them. */
static int drop(struct prepared *p, int fd, struct err *e) {
    uint64_t resident = 0;
    if (disk_forget(fd, p->passes % 16 == 0 ? &resident : NULL, e))
        return -1;
    p->resident = resident > p->resident ? resident : p->resident;
    return 0;
}

static int check_patience(uint64_t begin_ns, struct err *e) {
    if (since_s(begin_ns) < prepare_patience_s)
        return 0;
    return err_set(e, ERR_DEVICE_MEMORY,
                   "its files were not written within %.0f s: too slow for so much; give --disk-bytes less",
                   prepare_patience_s);
}

/* Direct where the file system takes it and the blocks are whole pages. */
static int open_file(struct prepared *p, int flags, struct err *e) {
    p->direct = p->row->may_be_direct && p->device->direct && p->op.n % PAGE == 0;
    p->fd = disk_scratch_file(&p->device->scratch, O_RDWR | flags | (p->direct ? O_DIRECT : 0), e);
    return p->fd < 0 ? -1 : 0;
}

/* ---- one file: write, sync, read, random read ---- */

static double one_pass_space(const struct op *op) {
    return (double)op->m * (double)op->n;
}
static double whole_space(const struct op *op) {
    return (double)op->k * (double)op->n;
}

static uint64_t pass_memory(const struct op *op) {
    return (uint64_t)(op->m * op->n);
}
static uint64_t chunk_memory(const struct op *op) {
    return op->n > CHUNK_BYTES ? (uint64_t)op->n : CHUNK_BYTES;
}
static uint64_t depth_memory(const struct op *op) {
    uint64_t each = round_up((uint64_t)op->n, PAGE) * (uint64_t)op->batch;
    return each > CHUNK_BYTES ? each : CHUNK_BYTES;
}

static int make_blocks(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n, all = (uint64_t)p->op.k, begin_ns = clock_monotonic_ns();
    uint64_t at_once = size < CHUNK_BYTES ? CHUNK_BYTES / size : 1;
    if (open_file(p, 0, e))
        return -1;
    for (uint64_t block = 0; block < all; block += at_once) {
        uint64_t count = all - block < at_once ? all - block : at_once;
        for (uint64_t i = 0; i < count; i++)
            disk_fill(p->seed, block + i, size, p->bytes + i * size);
        if (write_all(p->fd, p->bytes, count * size, block * size, e) || check_patience(begin_ns, e))
            return -1;
    }
    return fsync(p->fd) ? failed("write", e) : 0;
}

static int make_contents(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n;
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++)
        disk_fill(p->seed, i, size, p->bytes + i * size);
    return open_file(p, 0, e);
}

/* Anew each time: neither growing without end nor writing over what is allocated. */
static int empty(const struct prepared *p, struct err *e) {
    return ftruncate(p->fd, 0) || fsync(p->fd) ? failed("empty a file", e) : 0;
}

static int pass_write(struct prepared *p, double *elapsed_s, struct err *e) {
    uint64_t size = (uint64_t)p->op.n;
    if (empty(p, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++)
        if (write_all(p->fd, p->bytes + i * size, size, i * size, e))
            return -1;
    if (fdatasync(p->fd))
        return failed("write", e);
    *elapsed_s = since_s(begin_ns);
    return 0;
}

static int pass_sync(struct prepared *p, double *elapsed_s, struct err *e) {
    uint64_t size = (uint64_t)p->op.n;
    if (empty(p, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++) {
        if (write_all(p->fd, p->bytes + i * size, size, i * size, e))
            return -1;
        if (fdatasync(p->fd))
            return failed("write", e);
    }
    *elapsed_s = since_s(begin_ns);
    return 0;
}

int disk_op_read_back(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n;
    unsigned char *block = aligned_alloc(PAGE, round_up(size, PAGE));
    uint64_t ignored;
    int result =
        block ? disk_drop(p->fd, &ignored, e) : err_set(e, ERR_DEVICE_MEMORY, "no memory for a block");
    for (uint64_t i = 0; !result && i < (uint64_t)p->op.m; i++) {
        result = read_all(p->fd, block, size, i * size, e);
        if (!result)
            see(p, i, i, block);
    }
    free(block);
    return result ? err_wrap(e, "reading back what was written") : 0;
}

static int pass_read(struct prepared *p, double *elapsed_s, struct err *e) {
    uint64_t size = (uint64_t)p->op.n, all = (uint64_t)p->op.k;
    if (drop(p, p->fd, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++) {
        uint64_t block = (p->next + i) % all;
        if (read_all(p->fd, p->bytes, size, block * size, e))
            return -1;
        see(p, i, block, p->bytes);
    }
    *elapsed_s = since_s(begin_ns);
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
    unsigned char *bytes = p->bytes + r->first * round_up(size, PAGE);
    if (r->start) {
        pthread_mutex_lock(r->start);
        pthread_mutex_unlock(r->start);
    }
    for (uint64_t i = r->first; !r->result && i < (uint64_t)p->op.m; i += depth) {
        uint64_t block = chase_node(all, (p->next + i) % all);
        r->result = read_all(p->fd, bytes, size, block * size, &r->e);
        if (!r->result)
            see(p, i, block, bytes);
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
    struct reader readers[DEPTH_MAX];
    unsigned depth = (unsigned)p->op.batch;
    if (drop(p, p->fd, e))
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

/* ---- many files, and the same in one tar ---- */

static uint64_t tar_stride(const struct op *op) {
    return TAR_BLOCK + round_up((uint64_t)op->n, TAR_BLOCK);
}
static double small_space(const struct op *op) {
    return (double)op->k * (double)round_up((uint64_t)op->n, PAGE);
}
static double tar_space(const struct op *op) {
    return (double)op->k * (double)tar_stride(op) + 2 * TAR_BLOCK;
}
static uint64_t tar_memory(const struct op *op) {
    uint64_t stride = tar_stride(op);
    return stride > CHUNK_BYTES ? stride : CHUNK_BYTES;
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
            return failed("make a file", e);
        int result = write_all(fd, p->bytes, size, 0, e);
        if (close(fd) && !result)
            result = failed("write", e);
        if (result || check_patience(begin_ns, e))
            return -1;
    }
    /* One by one, they would take a flush of the disk each. */
    return syncfs(folder) ? failed("write the files out", e) : check_patience(begin_ns, e);
}

static void remove_small(const struct prepared *p) {
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
    return fd < 0 ? failed("open a file", e) : fd;
}

static int drop_small(struct prepared *p, struct err *e) {
    for (uint64_t i = 0; i < (uint64_t)p->op.m; i++) {
        int fd = open_small(p, small_at(p, i), e);
        int result = fd < 0 ? -1 : drop(p, fd, e);
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
        int result = read_all(fd, p->bytes, (uint64_t)p->op.n, 0, e);
        close(fd);
        if (result)
            return -1;
        see(p, i, index, p->bytes);
    }
    *elapsed_s = since_s(begin_ns);
    return 0;
}

static uint64_t tar_at_once(const struct op *op) {
    uint64_t stride = tar_stride(op);
    return stride < CHUNK_BYTES ? CHUNK_BYTES / stride : 1;
}

static int make_tar(struct prepared *p, struct err *e) {
    uint64_t size = (uint64_t)p->op.n, stride = tar_stride(&p->op), all = (uint64_t)p->op.k;
    uint64_t at_once = tar_at_once(&p->op), begin_ns = clock_monotonic_ns();
    char name[DISK_NAME_SIZE];
    if (open_file(p, 0, e))
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
        if (write_all(p->fd, p->bytes, count * stride, first * stride, e) || check_patience(begin_ns, e))
            return -1;
    }
    memset(p->bytes, 0, TAR_BLOCK);
    memset(p->bytes + TAR_BLOCK, 0, TAR_BLOCK);
    if (write_all(p->fd, p->bytes, 2 * TAR_BLOCK, all * stride, e))
        return -1;
    return fsync(p->fd) ? failed("write", e) : 0;
}

/* As a loader does: a stretch at a time, the files taken out of it by their headers. */
static int pass_tar(struct prepared *p, double *elapsed_s, struct err *e) {
    uint64_t all = (uint64_t)p->op.k, want = (uint64_t)p->op.m, stride = tar_stride(&p->op);
    uint64_t at_once = tar_at_once(&p->op);
    if (drop(p, p->fd, e))
        return -1;
    uint64_t begin_ns = clock_monotonic_ns();
    for (uint64_t done = 0; done < want;) {
        uint64_t first = (p->next + done) % all, count = want - done;
        count = count < at_once ? count : at_once;
        count = count < all - first ? count : all - first;
        if (read_all(p->fd, p->bytes, count * stride, first * stride, e))
            return -1;
        for (uint64_t i = 0; i < count; i++) {
            const unsigned char *member = p->bytes + i * stride;
            if (strtoull((const char *)member, NULL, 10) == first + i)
                see(p, done + i, first + i, member + TAR_BLOCK);
        }
        done += count;
    }
    *elapsed_s = since_s(begin_ns);
    return 0;
}

/* ---- the table ---- */

static const struct disk_op rows[] = {
    {OP_FILE_WRITE, true, true, one_pass_space, pass_memory, make_contents, pass_write},
    {OP_FILE_READ, false, true, whole_space, chunk_memory, make_blocks, pass_read},
    {OP_FILE_RANDOM_READ, false, true, whole_space, depth_memory, make_blocks, pass_random},
    {OP_FILE_SYNC, true, false, one_pass_space, pass_memory, make_contents, pass_sync},
    {OP_FILE_SMALL, false, false, small_space, chunk_memory, make_small, pass_small},
    {OP_FILE_TAR, false, false, tar_space, tar_memory, make_tar, pass_tar},
};

static const struct disk_op *find_row(const struct op *op) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].kind == op->kind)
            return &rows[i];
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
    if (op->n % 4 || op->n > 1 << 30 || one_pass_space(op) > pass_bytes_max)
        return says(reason, size, "blocks are whole 4-byte words, at most 1 GiB in one execution");
    if (op->batch > DEPTH_MAX || (op->batch > 1 && op->kind != OP_FILE_RANDOM_READ))
        return says(reason, size, "only random reads have a depth, of 64 at most");
    if (!row->writes && (op->m > op->k || op->k > CHASE_MAX_NODES))
        return says(reason, size, "reads at most as many blocks as there are, of 2^30 at most");
    return fits_folder(d, row, op, reason, size);
}

int disk_op_prepare(struct prepared *p, struct err *e) {
    p->row = find_row(&p->op);
    p->bytes = aligned_alloc(PAGE, round_up(p->row->memory_bytes(&p->op), PAGE));
    if (!p->bytes)
        return err_set(e, ERR_DEVICE_MEMORY, "no memory for the blocks of %s", op_kind_name(p->op.kind));
    return p->row->make(p, e);
}

void disk_op_release(struct prepared *p) {
    if (p->fd >= 0)
        close(p->fd);
    if (p->op.kind == OP_FILE_SMALL)
        remove_small(p);
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
