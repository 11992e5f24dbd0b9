#include "bench/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sizes of a pass are small, so that a slow disk can make several in a case's time. A sample of a data set of
 * pictures has about 110 kB (ImageNet: 1.28 million files, 138 GB). */
enum {
    BLOCK = 1 << 20,
    PAGE = 4096,
    PASS_BLOCKS = 64,
    SYNCS = 32,
    SAMPLE_BYTES = 110000,
    PASS_SAMPLES = 200
};
enum { LONE_READS = 256, DEEP_READS = 1024, DEPTH = 16 };
static const double file_bytes = 1 << 30, samples = 10000;
static const double sample_space_bytes = 114688;  /* in whole pages, as a file or in a tar */
static const double space_share = 0.75;           /* the free space may be less by the time of a --resume */
static const double least_space_bytes = 16 << 20; /* under this a case says that there is too little */

static int64_t at_most(int64_t count, int64_t limit) {
    return count < limit ? count : limit;
}

static void add(const struct plan_request *r, size_t disk, struct op op, struct plan *out) {
    struct bench_case c = {.bench = "disk", .op = op, .backend = "disk", .folder = r->disks[disk]};
    c.seconds = r->seconds;
    size_t length = strlen(op_name(&c.op, c.id));
    if (disk > 0)
        snprintf(c.id + length, sizeof c.id - length, ":disk%zu", disk + 1);
    plan_add(out, &c);
}

int disk_plan(const struct plan_request *r, struct plan *out, struct err *e) {
    (void)e;
    double space = fmax(least_space_bytes, space_share * r->disk_bytes);
    int64_t bytes = (int64_t)fmin(space, file_bytes), blocks = bytes / BLOCK, pages = bytes / PAGE;
    int64_t files = (int64_t)fmin(samples, space / sample_space_bytes), pass = at_most(PASS_SAMPLES, files);
    for (size_t i = 0; i < r->disk_count; i++) {
        int64_t in_pass = at_most(PASS_BLOCKS, blocks);
        add(r, i, op_file(OP_FILE_WRITE, in_pass, BLOCK, 1, 1), out);
        add(r, i, op_file(OP_FILE_READ, in_pass, BLOCK, blocks, 1), out);
        add(r, i, op_file(OP_FILE_RANDOM_READ, LONE_READS, PAGE, pages, 1), out);
        add(r, i, op_file(OP_FILE_RANDOM_READ, DEEP_READS, PAGE, pages, DEPTH), out);
        add(r, i, op_file(OP_FILE_SYNC, SYNCS, PAGE, 1, 1), out);
        add(r, i, op_file(OP_FILE_SMALL, pass, SAMPLE_BYTES, files, 1), out);
        add(r, i, op_file(OP_FILE_TAR, pass, SAMPLE_BYTES, files, 1), out);
    }
    return 0;
}
