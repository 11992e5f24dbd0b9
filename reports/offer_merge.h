/* Rows that are one offer to a buyer become one. The rules are in docs/offers.md. */
#ifndef REPORTS_OFFER_MERGE_H
#define REPORTS_OFFER_MERGE_H

#include "reports/catalogue.h"

/* Moves the quotes of f into set as merged offers and completes f's account. O(n log n). */
void offers_merge(struct offer_set *set, struct catalogue_file *f);

/* Do two prices of one currency count as the same (1e-5 relative)? */
bool offers_same_price(double a, double b);

/* USD an hour for one of these GPUs below which an on-demand price is taken for a mistake (a bid's floor, one
 * GPU's price for the node's): 60 % of the lowest price known of any candidate; NaN where one has none. */
double offer_price_floor(const struct gpu_match *m);

#endif
