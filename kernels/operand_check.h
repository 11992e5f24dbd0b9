/* What every backend checks of its caller, in one place. All are ERR_DEVICE: a caller that gets them has
 * a mistake of its own. */
#ifndef KERNELS_OPERAND_CHECK_H
#define KERNELS_OPERAND_CHECK_H

#include "base/err.h"
#include "model/op.h"

#include <stddef.h>
#include <stdint.h>

/* Are there as many buffers as the op has operands, each large enough? sizes in bytes. */
int operand_check_buffers(const struct op *op, const uint64_t *sizes, size_t count, struct err *e) MUST_CHECK;
/* Do `size` bytes at `offset` lie within a buffer of `capacity` bytes? */
int operand_check_range(uint64_t capacity, uint64_t offset, uint64_t size, struct err *e) MUST_CHECK;

#endif
