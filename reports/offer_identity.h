/* Which GPU an offer means. A catalogue says it three times, and not always alike: the device name, the SKU,
 * and a memory size that some catalogues give per GPU, some for the node, and some in other units.
 *
 * Files name few distinct devices in many rows, so each distinct (SKU, device, count, memory) is interned
 * once and resolved once, after the whole file is read: what a memory size means in this file is decided
 * from those rows that leave no choice. */
#ifndef REPORTS_OFFER_IDENTITY_H
#define REPORTS_OFFER_IDENTITY_H

#include "reports/report.h"

struct identity {
    const char *sku, *device; /* as the catalogue writes them */
    int64_t count;
    double said_bytes; /* memory as the catalogue says it; NaN */
    uint64_t sku_hash; /* filled by identity_intern */
    /* filled by identities_resolve */
    struct gpu_match match;
    double gpu_memory_bytes; /* per GPU; NaN */
    const char *note;        /* "" = nothing odd */
};

/* A zeroed struct is an empty table. */
struct identities {
    struct identity **items; /* in the arena, in order of first sight */
    size_t count, capacity;
    size_t *slots; /* open addressing: index + 1 into items, 0 = free */
    size_t slot_count;
    struct identity *last; /* asked for last */
};

/* The interned identity, borrowed from the arena; its texts are copied on first sight. */
struct identity *identity_intern(struct identities *t, struct arena *a, const struct identity *said);
/* trusted: device and memory were stated for this tool (own schema): the device overrides the SKU and the
 * memory is per GPU. Otherwise the SKU overrides the device, and the memory may be the node's. */
void identities_resolve(struct identities *t, struct arena *a, const struct gpu_table *gpus, bool trusted);
void identities_free(struct identities *t);

/* FNV-1a over bytes, going on from h (start with IDENTITY_HASH_START). */
#define IDENTITY_HASH_START 14695981039346656037u
uint64_t identity_hash(uint64_t h, const void *bytes, size_t count);

#endif
