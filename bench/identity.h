/* Is it still the same machine? Of what names it, records hold SHA-256 sums only. */
#ifndef BENCH_IDENTITY_H
#define BENCH_IDENTITY_H

#include <jansson.h>

/* Compares "identity" of two hosts as inventory_read gives them: the first member that both know and that
 * differs
 * ("machine_id", "board_serial", "product_uuid", "gpu_uuids"); NULL = nothing says that they are two
 * machines. */
const char *identity_difference(const json_t *one, const json_t *other);

#endif
