#include "kernels/cuda_driver.h"

#include <stddef.h>
#include <stdlib.h>

struct toolkit_row {
    int driver_major;
    const char *toolkit, *package; /* of NVIDIA's own repository */
};

/* Drivers 565 report CUDA 12.7, of which no toolkit was released.
 * CUDA Toolkit 13 release notes, table "CUDA Toolkit and corresponding driver versions", Linux x86_64. */
static const struct toolkit_row rows[] = {
    {580, "13.0", "cuda-toolkit-13-0"}, {575, "12.9", "cuda-toolkit-12-9"},
    {570, "12.8", "cuda-toolkit-12-8"}, {560, "12.6", "cuda-toolkit-12-6"},
    {555, "12.5", "cuda-toolkit-12-5"}, {550, "12.4", "cuda-toolkit-12-4"},
    {545, "12.3", "cuda-toolkit-12-3"}, {535, "12.2", "cuda-toolkit-12-2"},
    {530, "12.1", "cuda-toolkit-12-1"}, {525, "12.0", "cuda-toolkit-12-0"},
};

static const struct toolkit_row *find_row(const char *driver) {
    char *end;
    long major = strtol(driver, &end, 10);
    if (end == driver || *end != '.')
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (major >= rows[i].driver_major)
            return &rows[i];
    return NULL;
}

const char *cuda_driver_toolkit(const char *driver) {
    const struct toolkit_row *row = find_row(driver);
    return row ? row->toolkit : NULL;
}

int cuda_driver_explain(const char *driver, int devices, struct err *e) {
    const struct toolkit_row *row = find_row(driver);
    if (!driver[0])
        return err_set(e, ERR_NO_DEVICE,
                       "%d NVIDIA device%s here but no driver is loaded: install the driver (Debian: apt-get "
                       "install nvidia-driver), then run again; --cpu measures the CPU instead",
                       devices, devices == 1 ? "" : "s");
    if (!row)
        return err_set(e, ERR_NO_DEVICE,
                       "%d NVIDIA device%s here, but driver %s is older than CUDA 12 needs (525 or newer): "
                       "update the driver; --cpu measures the CPU instead",
                       devices, devices == 1 ? "" : "s", driver);
    return err_set(
        e, ERR_NO_DEVICE,
        "%d NVIDIA device%s here, driver %s supports CUDA toolkits up to %s, but this build has no "
        "CUDA module: apt-get install %s (NVIDIA's repository) and build a version of stepcost that "
        "has the CUDA module; --cpu measures the CPU instead",
        devices, devices == 1 ? "" : "s", driver, row->toolkit, row->package);
}
