#include "reports/rank_parts.h"

#include "base/text.h"
#include "reports/terms.h"

#include <math.h>
#include <string.h>

void rank_reason_add(struct rank_work *w, size_t offers, const char *text) {
    for (size_t i = 0; i < w->reason_count; i++)
        if (strcmp(w->reasons[i].reason, text) == 0) {
            w->reasons[i].offers += offers;
            return;
        }
    w->reasons = xgrow(w->reasons, sizeof *w->reasons, w->reason_count, &w->reason_capacity);
    w->reasons[w->reason_count++] =
        (struct rank_reason){.reason = arena_strdup(&w->arena, text), .offers = offers};
}

/* The backends of this version: CPUs and the simulator. */
bool rank_can_measure(const struct evidence_subject *s) {
    if (s->gpu)
        return strcmp(s->gpu->vendor, "sim") == 0;
    return s->record && !s->record->is_gpu;
}

/* Vendors that a backend of ours is for or is planned for: a datasheet alone gives their rate (grade D). The
 * achieved shares of references.csv are NVIDIA's, but for one row: they say little of another vendor's
 * devices. */
static bool datasheet_is_enough(const char *vendor) {
    static const char *const vendors[] = {"nvidia", "sim"};
    for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++)
        if (strcmp(vendors[i], vendor) == 0)
            return true;
    return false;
}

static const char *price_reason(struct rank_work *w, const struct offer *o) {
    const struct money p = term_node_hour(o).per_hour;
    if (!(p.amount > 0))
        return "price missing";
    if (strcmp(p.currency, w->currency) != 0)
        return arena_printf(
            &w->arena, "price in %s in a ranking in %s: amounts are never mixed; --currency %s ranks those",
            p.currency, w->currency, p.currency);
    return NULL;
}

static const char *ambiguity(struct rank_work *w, const struct offer *o) {
    struct text t = {0};
    text_printf(&t, "ambiguous device: %s may be ", o->device);
    for (size_t i = 0; i < o->match->count; i++)
        text_printf(&t, "%s%s",
                    i == 0                     ? ""
                    : i + 1 == o->match->count ? " or "
                                               : ", ",
                    o->match->candidates[i]->name);
    const char *copy = arena_strdup(&w->arena, text_get(&t));
    text_free(&t);
    return copy;
}

/* A record of this very offer answers every question about its device. */
static const char *device_reason(struct rank_work *w, const struct offer *o,
                                 const struct evidence_subject *s) {
    bool measured = s->record && s->grade == EVIDENCE_A;
    if (measured)
        return NULL;
    if (!*o->device)
        return "CPU offer without a record of that machine";
    if (o->match->count == 0)
        return arena_printf(&w->arena, "unknown GPU \"%s\"", o->device);
    if (o->match->count > 1)
        return ambiguity(w, o);
    const struct gpu *gpu = o->match->candidates[0];
    if (!datasheet_is_enough(gpu->vendor) && !s->record)
        return arena_printf(&w->arena, "no backend for %s devices (%s): only a record of one ranks it",
                            gpu->vendor, gpu->name);
    return NULL;
}

const char *rank_offer_reason(struct rank_work *w, const struct offer *o, const struct evidence_subject *s) {
    const char *reason = device_reason(w, o, s);
    if (reason)
        return reason;
    if (s->gpu && o->device_count < 1)
        return "fractional or unknown number of devices";
    if (o->implausible && !w->request->accept_implausible)
        return "implausible price, under 60 % of the lowest known for that GPU (a bid's floor, or one GPU's "
               "price "
               "for the node?); --accept-implausible ranks it";
    return price_reason(w, o);
}
