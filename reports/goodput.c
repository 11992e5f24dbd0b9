#include "reports/goodput.h"

#include <math.h>

double goodput_interruption_mean_s(double share_per_month) {
    if (!(share_per_month > 0 && share_per_month < 1))
        return NAN;
    return -GOODPUT_MONTH_HOURS * 3600.0 / log1p(-share_per_month);
}

double goodput_checkpoint_interval_s(double checkpoint_s, double interruption_mean_s) {
    double half_ratio = checkpoint_s / (2 * interruption_mean_s);
    if (half_ratio >= 1)
        return interruption_mean_s;
    return sqrt(2 * checkpoint_s * interruption_mean_s) * (1 + sqrt(half_ratio) / 3 + half_ratio / 9) -
           checkpoint_s;
}

double goodput_factor(double checkpoint_s, double restart_s, double interruption_mean_s) {
    double m = interruption_mean_s;
    double tau = goodput_checkpoint_interval_s(checkpoint_s, m);
    if (tau <= 0)
        return exp(restart_s / m);
    return m * exp(restart_s / m) * expm1((tau + checkpoint_s) / m) / tau;
}
