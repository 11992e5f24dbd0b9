/* The folder that is measured: what it lies on, how much may be written there, and a folder of our own inside
 * it that leaves nothing behind. Units: bytes. */
#ifndef KERNELS_DISK_FOLDER_H
#define KERNELS_DISK_FOLDER_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* disk_allowance of the folder as it stands; *free_bytes (may be NULL) = free for this user. ERR_IO. */
int disk_room(const char *folder, uint64_t *out_bytes, uint64_t *free_bytes, struct err *e) MUST_CHECK;

struct disk_mount {
    char type[32], source[96], options[200]; /* as /proc/self/mountinfo has them; "" = not known        */
    const char *kind;                        /* "local", "memory", "overlay", "network", "fuse"         */
    const char *rotational;                  /* "yes", "no", or "" = not known: no block device of its own */
};
/* root: prefix of /proc and /sys; "" outside of tests. */
void disk_mount_read(const char *root, const char *folder, struct disk_mount *out);

/* FOLDER/stepcost-disk-XXXXXX with a locked file inside: whoever finds one that is not locked finds what a
 * killed run left. Only the names that we give are ever removed, and only from folders of our own user. */
struct disk_scratch {
    int parent_fd, fd, lock_fd; /* -1 = not open */
    char name[32];
};
/* Removes what killed runs left, then makes one. ERR_IO says what is wrong with the folder. close is due in
 * any case. */
int disk_scratch_open(const char *folder, struct disk_scratch *out, struct err *e) MUST_CHECK;
void disk_scratch_close(struct disk_scratch *s);
/* A file in it; flags as for open. Without a name that anyone sees: it goes with the last descriptor. -1:
 * ERR_IO or, for want of room, ERR_DEVICE_MEMORY. */
int disk_scratch_file(const struct disk_scratch *s, int flags, struct err *e) MUST_CHECK;
/* Removes what killed runs left in this folder. */
void disk_sweep(const char *folder);

/* The name of file `index`: six digits or more. */
enum { DISK_NAME_SIZE = 24 };
void disk_file_name(uint64_t index, char out[DISK_NAME_SIZE]);

#endif
