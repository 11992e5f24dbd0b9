/* The parts of rank_offers, in the order in which they work:
 *
 *   rank_reasons.c  which offers cannot be ranked, and why
 *   rank_group.c    offers alike but for the price form one group: precision, layout, step model
 *   rank_draws.c    the groups' step times over all draws, intervals, the dominant uncertainty
 *   rank_limits.c   rows that surely break the job's deadline or budget
 *   rank_order.c    order by cost
 *   rank_ties.c     which rows the draws do not tell apart
 *   rank_entry.c    a row in full, made when it is asked for
 *   rank_next.c     what to measure next
 *
 * Private to rank*.c. */
#ifndef REPORTS_RANK_PARTS_H
#define REPORTS_RANK_PARTS_H

#include "reports/evidence.h"
#include "reports/report.h"
#include "reports/stepcost.h"

/* Seconds of one class (compute, memory, all-reduce) rest on a few sources: each moves its share. */
enum { RANK_MAX_SPREADS = 4 };
struct rank_spread {
    size_t source;
    double share, sigma;
    enum evidence grade;
};
struct rank_class {
    struct rank_spread items[RANK_MAX_SPREADS];
    size_t count;
};
enum { RANK_COMPUTE, RANK_MEMORY, RANK_COMM, RANK_CLASS_COUNT };

struct rank_group {
    struct evidence_subject subject;
    int64_t devices;
    const char *reason; /* why it cannot be ranked; "" = it can */
    const char *label;  /* of the machine, when it is this user's own; else NULL */
    struct layout layout;
    struct layout_memory memory;
    struct step_model model;
    struct rank_class classes[RANK_CLASS_COUNT];
    enum evidence grade; /* of the rates that most of the step's seconds rest on */
    bool unverified, comm_assumed, interpolated;
    const char *doubt;       /* of its measurements, as in struct rate */
    struct step_times times; /* at the mean rates */
    double *step_s;          /* one per draw      */
    struct rank_interval step;
    struct rank_interval billed_spot;               /* step x goodput of a spot node */
    double least_s[TERM_COUNT], most_s[TERM_COUNT]; /* billed seconds over all draws */
    const char *dominant;
    double dominant_sigma; /* relative effect of that source on the step */
    int dominant_class;    /* RANK_COMPUTE ...; its grade is that of the figure behind it */
    enum evidence dominant_grade;
};

/* A row in its compact form: there may be millions. */
struct rank_entry {
    const struct offer *offer; /* NULL: the machine of the group's record */
    uint32_t group, tie;
    double cost; /* per step at the mean rates; NaN without a price */
    double p_leader;
};

struct rank_work {
    const struct rank_request *request;
    struct arena arena; /* of texts */
    struct evidence_base base;
    struct rank_group *groups;
    size_t group_count, group_capacity;
    uint32_t *group_slots; /* hash of the groups: index + 1, 0 = free */
    size_t slot_count;     /* a power of two */
    struct rank_entry *entries;
    size_t entry_count, entry_capacity;
    struct rank_reason *reasons;
    size_t reason_count, reason_capacity;
    size_t draws;
    double *goodput; /* of spot, one per draw */
    double goodput_low, goodput_high;
    double checkpoint_s;
    char currency[4];      /* of this ranking; "" when nothing has a price */
    size_t section_end[3]; /* entries up to here: on-demand, spot, without a price */
};

/* rank_reasons.c */
/* Counts so many more offers under this reason; copies the text. */
void rank_reason_add(struct rank_work *w, size_t offers, const char *text);
/* Can this version measure such a device? Of a record without a known GPU: what it was made on. */
bool rank_can_measure(const struct evidence_subject *s);
/* Why this offer cannot be ranked whatever its rates are, in *text (from the arena); NULL = it can. */
const char *rank_offer_reason(struct rank_work *w, const struct offer *o, const struct evidence_subject *s);

/* rank_group.c: the group of these, made when it is new; an index, since the array moves. */
size_t rank_group_of(struct rank_work *w, const struct evidence_subject *s, int64_t devices);

/* rank_draws.c */
void rank_draw_goodput(struct rank_work *w);
void rank_draw_groups(struct rank_work *w);

/* rank_entry.c: what an entry says. */
enum term rank_entry_term(const struct rank_entry *n);
double rank_entry_price(const struct rank_work *w, const struct rank_entry *n); /* per hour; NaN */
const char *rank_entry_label(struct rank_work *w, const struct rank_entry *n);  /* from the arena */
/* Like strcmp of the labels. */
int rank_entry_compare_labels(const struct rank_work *w, const struct rank_entry *a,
                              const struct rank_entry *b);
/* All of the row but its texts: label and dominant stay NULL. */
void rank_entry_figures(const struct rank_work *w, const struct rank_entry *n, struct rank_row *out);
void rank_entry_row(struct rank_work *w, const struct rank_entry *n, struct rank_row *out);

/* rank_limits.c: drops what surely breaks the job's deadline or budget. */
void rank_limits(struct rank_work *w);

/* rank_order.c: costs, order. */
void rank_order(struct rank_work *w);
/* rank_ties.c: numbers those that can reach the first RANK_RESOLVED of their section. */
void rank_ties(struct rank_work *w);
/* Relative half-width of the 90 % interval of the step time. */
double rank_half_width(const struct rank_group *g);

/* rank_next.c */
void rank_next_lines(struct rank_work *w, struct ranking *out);

#endif
