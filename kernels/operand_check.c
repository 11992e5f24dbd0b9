#include "kernels/operand_check.h"

#include <inttypes.h>

int operand_check_buffers(const struct op *op, const uint64_t *sizes, size_t count, struct err *e) {
    struct op_operand operands[OP_MAX_OPERANDS];
    size_t wanted = op_operands(op, operands);
    char name[OP_NAME_SIZE];
    if (count != wanted)
        return err_set(e, ERR_DEVICE, "%s: has %zu operands, given %zu buffers", op_name(op, name), wanted,
                       count);
    for (size_t i = 0; i < count; i++)
        if (sizes[i] < op_operand_bytes(&operands[i]))
            return err_set(e, ERR_DEVICE, "%s: operand %s needs %" PRIu64 " bytes, its buffer has %" PRIu64,
                           op_name(op, name), operands[i].name, op_operand_bytes(&operands[i]), sizes[i]);
    return 0;
}

int operand_check_range(uint64_t capacity, uint64_t offset, uint64_t size, struct err *e) {
    if (offset > capacity || size > capacity - offset)
        return err_set(e, ERR_DEVICE,
                       "%" PRIu64 " bytes at offset %" PRIu64 " reach past the buffer's end at %" PRIu64,
                       size, offset, capacity);
    return 0;
}
