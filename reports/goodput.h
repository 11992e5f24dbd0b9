/* Goodput of interruptible nodes: G = billed time / failure-free work time (Daly 2006). Hours spent
 * without a node are calendar time and never in G. Not for prices: see terms.h. */
#ifndef REPORTS_GOODPUT_H
#define REPORTS_GOODPUT_H

enum { GOODPUT_MONTH_HOURS = 730 };

/* Mean time between interruptions of a node, in seconds, when a share f of the nodes is reclaimed within
 * a month: -730 h / ln(1 - f). A constant hazard is an assumption. f in (0, 1), else NaN. */
double goodput_interruption_mean_s(double share_per_month);

/* Work between two checkpoints that costs least (Daly 2006, higher-order estimate):
 * sqrt(2CM) (1 + sqrt(C/2M)/3 + C/2M/9) - C while C < 2M, else M.
 * C = seconds to write a checkpoint, M = mean seconds between interruptions of the job. */
double goodput_checkpoint_interval_s(double checkpoint_s, double interruption_mean_s);

/* T_billed / T_s = M exp(R/M) (exp((tau + C)/M) - 1) / tau, R = seconds to get going again, tau as above.
 * Without a cost of checkpoints (C = 0) its limit exp(R/M). Always >= 1; NaN in, NaN out. */
double goodput_factor(double checkpoint_s, double restart_s, double interruption_mean_s);

#endif
