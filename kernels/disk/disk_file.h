/* What a measurement of a folder rests on: how much may be written there, whether a file has left the
 * page cache, and the archive form that small files are compared with. Units: bytes. */
#ifndef KERNELS_DISK_FILE_H
#define KERNELS_DISK_FILE_H

#include "base/err.h"

#include <stdint.h>

/* At most 5 % of the free space, at most 4 GB, at most the process's limit on a file's size. */
uint64_t disk_allowance(uint64_t free_bytes, uint64_t file_limit_bytes);

/* Writes a file's pages out and asks the kernel to drop them; *resident = pages of it still in the page
 * cache, by mincore (0 = cold). A memory file system keeps them all. ERR_IO. */
int disk_drop(int fd, uint64_t *resident, struct err *e) MUST_CHECK;
/* The same of a file that is written out already; resident NULL = do not look, which costs time. */
int disk_forget(int fd, uint64_t *resident, struct err *e) MUST_CHECK;

/* POSIX.1-1988 ustar header of a regular file; its contents follow, filled with zeros to a whole block,
 * and two zero blocks end the archive. ERR_USAGE: name over 99 bytes, or size of 8 GiB and more. */
enum { TAR_BLOCK = 512 };
int tar_header(const char *name, uint64_t size, unsigned char out[TAR_BLOCK], struct err *e) MUST_CHECK;

#endif
