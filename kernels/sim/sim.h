/* A scripted device: "Simulated SIM-100", for testing the program and for learning it without hardware.
 *
 * It has a virtual clock and no memory behind its buffers: queues advance the clock by what an op would
 * take, and `read` works an output's elements out when they are asked for. Its records are marked
 * (device_info.simulated) and not ranked by default. What goes wrong on it is a script: see scenario.h.
 *
 * Time. An op starts when its queue is free, and takes
 *   max(FLOP / rate, bytes / bandwidth) + 2 us,   FMA at 100 % of peak, GEMM at 80 %, memory at 90 %,
 * a chase 20 ns an access within 256 KiB, 150 ns within 50 MB, 400 ns beyond,
 * with 0.3 % of noise on every enqueue. Every eager execution waits 5 us more for its launch; a captured
 * graph waits once for all its ops. Queues do not slow each other down. The host's clock moves only in
 * sync, to the moment when the queue is done.
 *
 * Limits: write is refused; an output can be read while its inputs were filled, not when they were
 * themselves computed. */
#ifndef KERNELS_SIM_SIM_H
#define KERNELS_SIM_SIM_H

#include "kernels/backend.h"

extern const struct backend sim_backend;

#endif
