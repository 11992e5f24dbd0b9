#include "reports/offer_identity.h"

#include "base/text.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No card has under 1 GiB: such a size in a MiB field was meant as GiB (RunPod's catalogue). */
static const double smallest_card_bytes = 1024.0 * 1048576.0;

uint64_t identity_hash(uint64_t h, const void *bytes, size_t count) {
    const unsigned char *b = bytes;

    for (size_t i = 0; i < count; i++) {
        h = (h ^ b[i]) * 1099511628211u;
    }
    return h;
}

/* ---- interning ---- */

static uint64_t said_hash(const struct identity *s) {
    uint64_t h = identity_hash(IDENTITY_HASH_START, s->sku, strlen(s->sku) + 1);

    h = identity_hash(h, s->device, strlen(s->device) + 1);
    h = identity_hash(h, &s->count, sizeof s->count);
    return identity_hash(h, &s->said_bytes, sizeof s->said_bytes);
}

static bool same_number(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 0;
}

static bool said_equal(const struct identity *a, const struct identity *b) {
    return a->count == b->count && same_number(a->said_bytes, b->said_bytes) && strcmp(a->sku, b->sku) == 0 &&
           strcmp(a->device, b->device) == 0;
}

/* The slot that holds said, or the free one where it belongs. */
static size_t *find_slot(const struct identities *t, const struct identity *said) {
    size_t at = (size_t)said_hash(said) & (t->slot_count - 1);

    while (t->slots[at] && !said_equal(t->items[t->slots[at] - 1], said)) {
        at = (at + 1) & (t->slot_count - 1);
    }
    return &t->slots[at];
}

static void grow_slots(struct identities *t) {
    free(t->slots);
    t->slot_count = t->slot_count ? 2 * t->slot_count : 64;
    t->slots = xcalloc(t->slot_count, sizeof *t->slots);
    for (size_t i = 0; i < t->count; i++) {
        *find_slot(t, t->items[i]) = i + 1;
    }
}

struct identity *identity_intern(struct identities *t, struct arena *a, const struct identity *said) {
    struct identity copy = *said;
    size_t *slot;

    if (t->last && said_equal(t->last, said)) { /* zones of one SKU stand together, and a row may give two */
        return t->last;
    }
    if (2 * (t->count + 1) > t->slot_count) {
        grow_slots(t);
    }
    slot = find_slot(t, said);
    if (*slot) {
        return t->last = t->items[*slot - 1];
    }
    copy.sku = arena_strdup(a, said->sku);
    copy.device = arena_strdup(a, said->device);
    copy.sku_hash = identity_hash(IDENTITY_HASH_START, said->sku, strlen(said->sku) + 1);
    copy.gpu_memory_bytes = NAN;
    copy.note = "";
    t->items = xgrow(t->items, sizeof(struct identity *), t->count, &t->capacity);
    t->items[t->count] = arena_alloc(a, sizeof copy);
    *t->items[t->count] = copy;
    *slot = ++t->count;
    return t->last = t->items[t->count - 1];
}

void identities_free(struct identities *t) {
    if (!t) {
        return;
    }
    free(t->items);
    free(t->slots);
    memset(t, 0, sizeof *t);
}

/* ---- resolving ---- */

static bool has(const struct gpu_match *m, const struct gpu *gpu) {
    for (size_t i = 0; i < m->count; i++) {
        if (m->candidates[i] == gpu) {
            return true;
        }
    }
    return false;
}

static struct gpu_match in_both(const struct gpu_match *a, const struct gpu_match *b) {
    struct gpu_match out = {.count = 0};

    for (size_t i = 0; i < a->count; i++) {
        if (has(b, a->candidates[i])) {
            out.candidates[out.count++] = a->candidates[i];
        }
    }
    return out;
}

static struct gpu_match in_either(const struct gpu_match *a, const struct gpu_match *b) {
    struct gpu_match out = *a;

    for (size_t i = 0; i < b->count && out.count < GPU_MAX_CANDIDATES; i++) {
        if (!has(&out, b->candidates[i])) {
            out.candidates[out.count++] = b->candidates[i];
        }
    }
    return out;
}

struct resolver {
    struct arena *arena;
    const struct gpu_table *gpus;
    bool trusted;
    size_t votes_gpu, votes_node; /* identities whose memory can only be per GPU, only per node */
};

/* Drops the cards that cannot have this memory: matching keeps them all when it fits none. */
static struct gpu_match fitting(struct gpu_match m, double memory_bytes) {
    struct gpu_match out = {.count = 0};

    for (size_t i = 0; i < m.count; i++) {
        if (isnan(memory_bytes) || gpu_memory_fits(m.candidates[i], memory_bytes)) {
            out.candidates[out.count++] = m.candidates[i];
        }
    }
    return out;
}

/* The cards that device and SKU allow at this memory; *at_odds when the two exclude each other. */
static struct gpu_match identify(const struct resolver *r, const struct identity *id, double memory_bytes,
                                 bool *at_odds) {
    struct gpu_match by_name = gpu_match_name(r->gpus, id->device, memory_bytes);
    struct gpu_match by_sku = gpu_match_sku(r->gpus, id->sku, memory_bytes);
    struct gpu_match both = in_both(&by_name, &by_sku);

    *at_odds = by_sku.count > 0 && both.count == 0;
    if (both.count > 0) {
        return fitting(both, memory_bytes);
    }
    return fitting(r->trusted || by_sku.count == 0 ? by_name : by_sku, memory_bytes);
}

static double said_per_gpu(const struct resolver *r, const struct identity *id) {
    return !r->trusted && id->said_bytes < smallest_card_bytes ? id->said_bytes * 1024.0 : id->said_bytes;
}

static bool may_be_node_total(const struct resolver *r, const struct identity *id) {
    return !r->trusted && id->count > 1 && !isnan(id->said_bytes);
}

struct fit {
    bool gpu, node; /* some card has the memory said, taken per GPU; taken for the node */
};

static struct fit fits(const struct resolver *r, const struct identity *id) {
    double per_gpu = said_per_gpu(r, id);
    bool ignored;

    return (struct fit){
        .gpu = identify(r, id, per_gpu, &ignored).count > 0,
        .node = may_be_node_total(r, id) && identify(r, id, per_gpu / (double)id->count, &ignored).count > 0,
    };
}

static void vote(struct resolver *r, const struct identity *id) {
    struct fit fit = fits(r, id);

    r->votes_gpu += fit.gpu && !fit.node;
    r->votes_node += fit.node && !fit.gpu;
}

/* Where both readings fit a card, or neither does, the file's other rows decide; NaN when they disagree. */
static double memory_per_gpu(const struct resolver *r, const struct identity *id) {
    double per_gpu = said_per_gpu(r, id);
    struct fit fit = fits(r, id);

    if (!may_be_node_total(r, id) || (fit.gpu && !fit.node)) {
        return per_gpu;
    }
    if (fit.node && !fit.gpu) {
        return per_gpu / (double)id->count;
    }
    if ((r->votes_gpu > 0) == (r->votes_node > 0)) {
        return NAN;
    }
    return r->votes_gpu > 0 ? per_gpu : per_gpu / (double)id->count;
}

/* A piece of a note, apart from what is there already. */
static const char *apart(const struct text *note) {
    return note->length > 0 ? "; " : "";
}

static void note_device(const struct resolver *r, struct identity *id, bool at_odds) {
    struct text note = {0};
    char size[UNITS_TEXT_SIZE];
    bool ignored;

    if (at_odds && !r->trusted) {
        text_printf(&note, "filed as %s", id->device);
    } else if (at_odds) {
        text_printf(&note, "the SKU reads like another GPU");
    }
    for (size_t i = 0; id->match.count > 1 && i < id->match.count; i++) {
        if (i == 0) {
            text_printf(&note, "%s%s can be %s", apart(&note), id->device, id->match.candidates[i]->name);
        } else {
            text_printf(&note, " or %s", id->match.candidates[i]->name);
        }
    }
    if (id->match.count == 0 && identify(r, id, NAN, &ignored).count > 0) {
        units_format_bytes(id->said_bytes, size);
        text_printf(&note, "%sno known GPU is %s by name and SKU and has %s", apart(&note), id->device, size);
    } else if (id->match.count == 0) {
        text_printf(&note, "%sunknown GPU %s", apart(&note), id->device);
    }
    id->note = arena_strdup(r->arena, text_get(&note));
    text_free(&note);
}

static void resolve(const struct resolver *r, struct identity *id) {
    double per_gpu = said_per_gpu(r, id);
    bool at_odds;

    if (!id->device[0]) {
        return;
    }
    id->gpu_memory_bytes = memory_per_gpu(r, id);
    id->match = identify(r, id, id->gpu_memory_bytes, &at_odds);
    if (isnan(id->gpu_memory_bytes) && !isnan(per_gpu)) {
        bool at_odds_node;
        struct gpu_match as_gpu = identify(r, id, per_gpu, &at_odds);
        struct gpu_match as_node = identify(r, id, per_gpu / (double)id->count, &at_odds_node);

        id->match = in_either(&as_gpu, &as_node);
        at_odds = at_odds && at_odds_node;
    }
    note_device(r, id, at_odds);
}

void identities_resolve(struct identities *t, struct arena *a, const struct gpu_table *gpus, bool trusted) {
    struct resolver r = {.arena = a, .gpus = gpus, .trusted = trusted};

    for (size_t i = 0; i < t->count; i++) {
        if (t->items[i]->device[0] && may_be_node_total(&r, t->items[i])) {
            vote(&r, t->items[i]);
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        resolve(&r, t->items[i]);
    }
}
