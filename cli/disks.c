#include "cli/disks.h"

#include "base/mem.h"
#include "kernels/disk/disk_folder.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A tier's own share of the time is short: this much is written to a slow disk in some seconds. */
static const uint64_t tier_bytes = 256 << 20;

/* As given where it does not exist. */
static const char *full_path(struct arena *arena, const char *folder) {
    char *real = realpath(folder, NULL);
    const char *kept = arena_strdup(arena, real ? real : folder);
    free(real);
    return kept;
}

static const char *folder_of(struct arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == path ? "/" : slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ".";
}

int disks_choose(struct disks *d, struct err *e) {
    if (!d->wanted && d->folders->count > 0)
        return err_set(e, ERR_USAGE,
                       "--disk: nothing here measures %s; add --bench disk, or take --tier accept",
                       d->folders->items[0]);
    if (!d->wanted)
        return 0;
    if (d->folders->count == 0)
        opt_list_add(d->folders, folder_of(d->arena, d->record_path));
    uint64_t least = *d->bytes;
    if (least == OPT_SIZE_NONE && !d->named)
        least = tier_bytes;
    for (size_t i = 0; i < d->folders->count; i++) {
        uint64_t room;
        d->folders->items[i] = full_path(d->arena, d->folders->items[i]);
        struct err ignored; /* what cannot be measured says so in the record */
        if (!disk_room(d->folders->items[i], &room, NULL, &ignored) && room < least)
            least = room;
    }
    *d->bytes = least == OPT_SIZE_NONE ? 0 : least;
    return 0;
}
