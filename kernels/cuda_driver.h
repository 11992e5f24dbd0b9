/* Which CUDA toolkit an NVIDIA driver supports, for a machine whose GPU cannot be measured as it stands. */
#ifndef KERNELS_CUDA_DRIVER_H
#define KERNELS_CUDA_DRIVER_H

#include "base/err.h"

/* The newest toolkit that runs on this Linux driver ("535.104.05" -> "12.2"), by the table of minimum
 * driver versions in NVIDIA's CUDA Toolkit release notes; NULL for a driver older than CUDA 12 needs or a
 * text that is no version. */
const char *cuda_driver_toolkit(const char *driver);

/* Why the GPUs here cannot be measured, and the mend, in one line. driver is "" when none is loaded.
 * Always -1, ERR_NO_DEVICE. */
int cuda_driver_explain(const char *driver, int devices, struct err *e);

#endif
