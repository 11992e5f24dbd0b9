/* Front door of kernels/: what a device can do.
 *
 * A backend is a const table of functions over its own opaque types. It executes ops and tells the
 * time; it never loops for timing, picks iteration counts, computes a rate, prints or exits. Every op of
 * every backend is compared with kernels/ref under the bound of its dtype.
 *
 * A backend with dependencies is a module opened with dlopen(RTLD_NOW | RTLD_LOCAL); it exports one
 * symbol, BACKEND_SYMBOL, of type `const struct backend`. ref and sim are linked in.
 * Units: bytes, seconds, Hz, W, degrees Celsius; ns for time stamps. */
#ifndef KERNELS_BACKEND_H
#define KERNELS_BACKEND_H

#include "base/err.h"
#include "model/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BACKEND_ABI = 2 };
#define BACKEND_SYMBOL "stepcost_backend"

/* Opaque; each backend completes them for itself. */
struct device;
struct buffer;   /* memory on a device                                            */
struct prepared; /* an op bound to buffers, ready to enqueue; or a captured graph */
struct queue;    /* work in order; two queues may overlap                         */
struct event;    /* a point in a queue                                            */
struct group;    /* ranks that act together: see kernels/group.h                  */

struct backend_config {
    int threads;          /* 0 = all that the cgroup allows            */
    const char *scenario; /* sim only: which script to play; else NULL */
    const char *folder;   /* disk only: what is measured; else NULL    */
};

struct device_fact {
    char key[40], value[216];
};

struct device_info {
    char name[96]; /* as the driver or the CPU says it */
    bool is_gpu, simulated;
    double memory_bytes, free_bytes;
    double cache_bytes; /* last-level cache                                  */
    double clock_hz;    /* nominal or maximum; NaN = not known               */
    int units;          /* SMs, or threads that a CPU device uses            */
    /* recorded as they are: library versions and settings, core type, environment variables */
    struct device_fact facts[48];
    size_t fact_count;
};

struct telemetry { /* NaN = not known */
    double clock_hz, power_w, temperature_c;
    double throttled_s; /* cumulative since some fixed moment */
};

enum fill { FILL_NORMAL, FILL_INTEGERS /* -4..4, sums stay exact */, FILL_ZERO };

/* Sub-table of devices that can form groups; NULL elsewhere. */
struct backend_comm {
    int (*unique_id)(char *out, size_t size, struct err *e);
    int (*join)(struct device *d, struct group *g, const char *id, struct err *e);
    void (*leave)(struct device *d);
    void (*abort)(struct device *d);
};

struct backend {
    unsigned abi; /* BACKEND_ABI; first, so that a loader can read it safely */
    const char *name, *summary;

    /* Devices here, counted without opening one; 0 with the reason in *e, never an exit. */
    int (*count)(const struct backend_config *c, struct err *e);
    int (*open)(const struct backend_config *c, int index, struct device **out, struct err *e);
    void (*close)(struct device *d);
    int (*describe)(struct device *d, struct device_info *out, struct err *e);
    /* May be called from another thread while work runs. */
    void (*telemetry)(struct device *d, struct telemetry *out);
    /* The clock that budgets on this device run on, ns; NULL = the host's monotonic clock. */
    uint64_t (*now_ns)(struct device *d);

    /* Device memory. alloc: ERR_DEVICE_MEMORY when there is too little. Element i of a filled buffer is
     * rng_normal_at(seed, i) or rng_integer_at(seed, i, 4), rounded to t (int8: see ref_fill_scale): pure, so
     * that a verifier knows the inputs without reading them. */
    int (*alloc)(struct device *d, uint64_t size_bytes, struct buffer **out, struct err *e);
    void (*free)(struct buffer *b);
    int (*fill)(struct buffer *b, enum dtype t, enum fill how, uint64_t seed, struct err *e);
    int (*write)(struct buffer *b, uint64_t offset, const void *from, uint64_t size, struct err *e);
    int (*read)(struct buffer *b, uint64_t offset, void *to, uint64_t size, struct err *e);

    /* Can this op run here? When not, why, in reason (one sentence). */
    bool (*supports)(struct device *d, const struct op *op, char *reason, size_t size);
    /* buffers as op_operands lists them; borrowed until release. */
    int (*prepare)(struct device *d, const struct op *op, struct buffer *const *buffers, size_t count,
                   struct prepared **out, struct err *e);
    void (*release)(struct prepared *p);

    int (*queue_open)(struct device *d, struct queue **out, struct err *e);
    void (*queue_close)(struct queue *q);
    int (*event_open)(struct device *d, struct event **out, struct err *e);
    void (*event_close)(struct event *ev);
    /* n executions, one after the other. Allocates nothing. */
    int (*enqueue)(struct queue *q, struct prepared *p, uint64_t n, struct err *e);
    int (*record)(struct queue *q, struct event *ev, struct err *e);
    int (*wait)(struct queue *q, struct event *ev, struct err *e); /* q goes on after ev      */
    int (*sync)(struct queue *q, struct err *e);                   /* the host waits for q    */
    /* Device time between two recorded and reached events. */
    int (*elapsed)(struct event *from, struct event *to, double *out_s, struct err *e);
    /* A graph that replays the prepared ops in order; NULL = this backend has none. */
    int (*capture)(struct queue *q, struct prepared *const *ops, size_t count, struct prepared **out,
                   struct err *e);

    const struct backend_comm *comm;
    /* What a person must know of p's results so far ("warm only: ..."), or ""; NULL = never anything. */
    void (*remark)(struct prepared *p, char *out, size_t size);
};

/* ---- the table of backends (backends.c) ---- */

/* Names in order of preference for the default choice; NULL past the last. */
const char *backend_name(size_t index);
/* Finds a backend by name, loading its module when it has one (from the program's own folder or
 * $STEPCOST_MODULES). ERR_NOT_FOUND: unknown name, nearest offered. ERR_DEVICE: the module cannot start
 * here, and why. The table stays valid for the life of the process. */
const struct backend *backend_find(const char *name, struct err *e) MUST_CHECK;

#endif
