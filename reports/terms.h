/* Price terms: how a term turns an offer's price into the price of a billed node-hour, and whether the
 * node can be taken away. A new term (reserved, lease, own hardware) is one member of enum term and one
 * row of terms.c. Terms know nothing of goodput: that is a factor of the step cost, applied once. */
#ifndef REPORTS_TERMS_H
#define REPORTS_TERMS_H

#include "reports/report.h"

struct term_row {
    const char *name; /* as files and options write it */
    bool interruptible;
    const char *note; /* one sentence for people */
    struct price (*node_hour)(const struct offer *offer);
};

/* The row of t; borrowed, never NULL. */
const struct term_row *term_row(enum term t);
/* By name, without case; ERR_PARSE with the known names when there is none. */
int term_parse(const char *name, enum term *out, struct err *e) MUST_CHECK;
/* Price of a billed node-hour of this offer under its own term. */
struct price term_node_hour(const struct offer *offer);

#endif
