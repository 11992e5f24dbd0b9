/* A time-ordered series of samples: its mean with an honest interval, or the reason why there is none.
 *
 * Interval. Neighbours are merged into batches, doubling, until the lag-1 autocorrelation of the batch
 * means is under 0.1 (corrected for its bias: Marriott and Pope 1954) or 20 to 39 batches are left. The
 * half-width is Student's t on the batch means, times sqrt((1+r)/(1-r)) for the correlation r that is left,
 * taken 0.6 of its standard error high because a stopping rule favours series that look uncorrelated; plus
 * Johnson's (1978) correction for skewness.
 *
 * Change. A step anywhere in the middle 80 % of the series, or a straight line, that is larger than the
 * goal and 6.5 standard errors from nothing makes the series `unsteady`. And `steady` asserts an absence:
 * a step or line of 3 goals or more must be excluded (99.9 % one-sided, at each place), else `wide`.
 *
 * Number. 5 % of the samples may be slow ones, and of 30 samples one series in five shows none of them:
 * `steady` therefore needs 120 samples (0.95^120 = 0.2 %). Rarer events can still be missed.
 *
 * The same function serves the runner's stopping rule and every later reader of the record. */
#ifndef BASE_SERIES_H
#define BASE_SERIES_H

#include <stdbool.h>
#include <stddef.h>

enum series_state {
    SERIES_FEW,      /* under SERIES_STEADY_SAMPLES samples: an interval from 5 on, none below; a change is
                      * looked for from SERIES_MIN_SAMPLES on */
    SERIES_STEADY,   /* the interval lies within the goal, and no change of 3 goals hides in the series */
    SERIES_WIDE,     /* too correlated, or the half-width is above the goal, or such a change may hide  */
    SERIES_UNSTEADY, /* a trend or a level shift: the mean describes no single state                    */
};

enum {
    SERIES_MIN_SAMPLES = 30,
    SERIES_STEADY_SAMPLES = 120,
    SERIES_MIN_BATCHES = 20,
    SERIES_CHANGE_GOALS = 3
};

struct series_summary {
    size_t n;
    double mean;
    double half_width; /* of the 95 % interval of the mean, same unit as mean; NaN = none */
    size_t batch;      /* samples merged into one batch                                   */
    double shift;      /* relative size of the step that stands out most; NaN under 30 samples   */
    enum series_state state;
};

/* Judges x[0..n) against a relative goal (0.01 = the interval must lie within +-1 %). */
struct series_summary series_judge(const double *x, size_t n, double goal);

/* True when a stopping rule may look at n samples: n = SERIES_MIN_SAMPLES times a power of two. */
bool series_is_look(size_t n);

const char *series_state_name(enum series_state state);

#endif
