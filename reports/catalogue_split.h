/* Google's rows in SkyPilot's layout price a machine in two halves: the GPUs (no InstanceType) and the host
 * (no AcceleratorName) of the same zone. An offer is the sum of both. */
#ifndef REPORTS_CATALOGUE_SPLIT_H
#define REPORTS_CATALOGUE_SPLIT_H

#include "reports/catalogue.h"

/* Is this the name of a host that is rented only with its GPUs (a2-highgpu-8g)? */
bool split_is_host(const char *instance_type);
/* Is this an N1 machine: rented alone, or with GPUs attached? */
bool split_is_n1(const char *instance_type);

/* Keeps a half until the file's last row. row->said has sku or device, not both; prices in USD an hour, NaN =
 * none. */
void split_add(struct catalogue_file *f, const struct catalogue_row *row, const char *zone, double on_demand,
               double spot);
/* Joins the halves: a host founds the offers, its GPU row counts as merged; on N1 the GPU row founds the
 * offer with the smallest host that its zone lists and the provider allows. What finds no other half is
 * refused. O(n log n). */
void split_join(struct catalogue_file *f);

#endif
