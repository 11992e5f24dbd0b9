/* What the file ops share (disk_io.c), and their rows. */
#ifndef KERNELS_DISK_DISK_OPS_H
#define KERNELS_DISK_DISK_OPS_H

#include "kernels/disk/disk.h"

enum { DISK_PAGE = 4096, DISK_CHUNK_BYTES = 1 << 20, DISK_DEPTH_MAX = 64 };

/* One kind of file op. */
struct disk_op {
    enum op_kind kind;
    bool writes, may_be_direct;
    double (*space_bytes)(const struct op *op);                        /* on the disk, at most          */
    uint64_t (*memory_bytes)(const struct op *op);                     /* of prepared.bytes             */
    int (*make)(struct prepared *p, struct err *e);                    /* the files, once              */
    int (*pass)(struct prepared *p, double *elapsed_s, struct err *e); /* takes its own time */
};
enum { DISK_BLOCK_OPS = 4, DISK_MANY_OPS = 2 };
extern const struct disk_op disk_block_ops[DISK_BLOCK_OPS]; /* disk_blocks.c: one file                     */
extern const struct disk_op disk_many_ops[DISK_MANY_OPS];   /* disk_many.c: many files, and the same in one */
void disk_remove_small(const struct prepared *p);

/* The whole of it or an error: ERR_DEVICE_MEMORY for want of room, else ERR_IO. */
int disk_write_all(int fd, const unsigned char *from, uint64_t size, uint64_t offset, struct err *e);
int disk_read_all(int fd, unsigned char *to, uint64_t size, uint64_t offset, struct err *e);
/* -1 with errno's text: "cannot WHAT: ...". */
int disk_failed(const char *what, struct err *e);
/* Opens p->fd, direct where the file system takes it and the blocks are whole pages. */
int disk_open_file(struct prepared *p, struct err *e);
/* Before a pass that reads: drops the file from the page cache and looks whether it is gone, where a pass of
 * direct reads looks only one time in 16. */
int disk_forget_for(struct prepared *p, int fd, struct err *e);
/* ERR_DEVICE_MEMORY once making files has taken too long. */
int disk_check_patience(uint64_t begin_ns, struct err *e);
/* `seen` at this place: what was read of this block. */
void disk_see(const struct prepared *p, uint64_t place, uint64_t block, const unsigned char *bytes);
double disk_since_s(uint64_t then_ns);
uint64_t disk_round_up(uint64_t size, uint64_t unit);
uint64_t disk_chunk_memory(const struct op *op);

#endif
