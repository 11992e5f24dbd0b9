/* What the files of a measurement hold: numbers that no file system can compress or share, each a pure
 * function of (seed, block, place), so that any word that is read can be told right from wrong.
 *
 * The operands of a file op: `seed`, one fp64 whose bits are the seed, and `seen`, one int32 for each block
 * (append, file) of an execution: the key where a word of it, at a place that changes from block to block,
 * was as written; anything else where it was not, 0 where nothing was read. Units: bytes. */
#ifndef KERNELS_DISK_CONTENT_H
#define KERNELS_DISK_CONTENT_H

#include <stdint.h>

uint64_t disk_seed(double operand);
/* From 1 to 2^30. */
int32_t disk_key(double operand);

/* The `size` bytes of this block; size: a multiple of 4. */
void disk_fill(uint64_t seed, uint64_t block, uint64_t size, unsigned char *out);
/* What `seen` says of this block, as it was read. */
int32_t disk_check(uint64_t seed, int32_t key, uint64_t block, uint64_t size, const unsigned char *bytes);

#endif
