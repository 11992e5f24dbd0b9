#include "kernels/cpu/cpu.h"

#include <sched.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef STEPCOST_HWLOC
#include <hwloc.h>
#endif

struct cpu_share cpu_share(uint64_t n, int thread, int threads) {
    const uint64_t line = ~(uint64_t)63; /* 64 elements: whole cache lines of any type */
    uint64_t t = (uint64_t)thread, all = (uint64_t)threads;
    return (struct cpu_share){(n * t / all) & line, thread + 1 == threads ? n : (n * (t + 1) / all) & line};
}

int cpu_thread(void) {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

#ifdef STEPCOST_HWLOC
/* The first hardware thread of every core, then the second ones, and so on. */
static int order_by_core(const cpu_set_t *allowed, int *cpus, int capacity) {
    hwloc_topology_t topology;
    int count = 0;
    if (hwloc_topology_init(&topology))
        return 0;
    if (hwloc_topology_load(topology))
        goto out;
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int sibling = 0, found = 1; found && count < capacity; sibling++) {
        found = 0;
        for (int i = 0; i < cores && count < capacity; i++) {
            hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)i);
            int skip = sibling, cpu;
            hwloc_bitmap_foreach_begin(cpu, core->cpuset) if (CPU_ISSET(cpu, allowed) && skip-- == 0) {
                cpus[count++] = cpu;
                found = 1;
                break;
            }
            hwloc_bitmap_foreach_end();
        }
    }
out:
    hwloc_topology_destroy(topology);
    return count;
}
#else
static int order_by_core(const cpu_set_t *allowed, int *cpus, int capacity) {
    (void)allowed, (void)cpus, (void)capacity;
    return 0;
}
#endif

static int order_by_number(const cpu_set_t *allowed, int *cpus, int capacity) {
    int count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && count < capacity; cpu++)
        if (CPU_ISSET(cpu, allowed))
            cpus[count++] = cpu;
    return count;
}

/* The environment may allow fewer threads than asked for (OMP_THREAD_LIMIT, OMP_DYNAMIC): work is shared out
 * by the team's true size, or some of it would be left undone. */
static int team_size(int wanted) {
    int size = 1;
#ifdef _OPENMP
    omp_set_dynamic(0);
#pragma omp parallel num_threads(wanted)
#pragma omp single
    size = omp_get_num_threads();
#else
    (void)wanted;
#endif
    return size;
}

static void pin(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)!sched_setaffinity(0, sizeof one, &one);
}

void cpu_bind(struct device *d) {
    d->threads = team_size(d->threads);
    if (sched_getaffinity(0, sizeof d->before, &d->before))
        return;
    d->bound = order_by_core(&d->before, d->cpus, d->threads);
    if (d->bound < d->threads)
        d->bound = order_by_number(&d->before, d->cpus, d->threads);
    if (d->bound < d->threads) {
        d->bound = 0;
        return;
    }
#pragma omp parallel num_threads(d->threads)
    pin(d->cpus[cpu_thread()]);
}

void cpu_unbind(struct device *d) {
    if (!d->bound)
        return;
#pragma omp parallel num_threads(d->threads)
    (void)!sched_setaffinity(0, sizeof d->before, &d->before);
    d->bound = 0;
}
