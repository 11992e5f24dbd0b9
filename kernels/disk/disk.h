/* The backend whose device is a folder: inside of kernels/disk, and its table. An op's files are made by
 * prepare and are gone after release. A queue's time is that of the passes alone: making files anew and
 * dropping them from the page cache before each pass is left out. */
#ifndef KERNELS_DISK_DISK_H
#define KERNELS_DISK_DISK_H

#include "kernels/backend.h"
#include "kernels/disk/disk_folder.h"

extern const struct backend disk_backend;

struct device {
    char *folder;
    struct disk_scratch scratch;
    struct disk_mount mount;
    bool direct; /* the file system takes O_DIRECT */
};
struct buffer {
    uint64_t size;
    unsigned char *bytes;
    struct prepared *unseen; /* of a writing op: its file is to be read back first; NULL = nothing is */
};

struct disk_op;
struct prepared {
    struct device *device;
    struct op op;
    const struct disk_op *row;
    uint64_t seed;
    int32_t key;
    struct buffer *out;   /* `seen` */
    int fd;               /* -1 = none */
    bool direct;          /* this file is open with O_DIRECT */
    unsigned char *bytes; /* page-aligned: blocks on their way */
    uint64_t next;        /* where the next pass begins, in blocks or files */
    uint64_t passes;      /* so far */
    uint64_t resident;    /* most pages that were still cached after a drop */
};

/* ---- disk_ops.c ---- */

/* Why not, in reason. */
bool disk_op_supports(const struct device *d, const struct op *op, char *reason, size_t size);
/* Makes the files; out->device, op, seed, key, out are set. ERR_DEVICE_MEMORY: no room, or too slow for so
 * much. disk_op_release is due in any case. */
int disk_op_prepare(struct prepared *p, struct err *e) MUST_CHECK;
void disk_op_release(struct prepared *p);
/* One pass, and how long it took. */
int disk_op_pass(struct prepared *p, double *elapsed_s, struct err *e) MUST_CHECK;
/* Fills `seen` of a writing op from its file. */
int disk_op_read_back(struct prepared *p, struct err *e) MUST_CHECK;
void disk_op_remark(const struct prepared *p, char *out, size_t size);

#endif
