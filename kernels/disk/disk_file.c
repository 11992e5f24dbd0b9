#include "kernels/disk/disk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t disk_allowance(uint64_t free_bytes, uint64_t file_limit_bytes) {
    const uint64_t most = 4000000000U;
    uint64_t allowed = free_bytes / 20;
    if (allowed > most)
        allowed = most;
    return allowed < file_limit_bytes ? allowed : file_limit_bytes;
}

static int count_resident(int fd, size_t size, uint64_t *resident, struct err *e) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page;
    unsigned char *map = malloc(pages);
    void *view = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    int failed = !map || view == MAP_FAILED || mincore(view, size, map);
    int reason = errno;
    for (size_t i = 0; !failed && i < pages; i++)
        *resident += map[i] & 1U;
    if (view != MAP_FAILED)
        munmap(view, size);
    free(map);
    return failed ? err_set(e, ERR_IO, "cannot tell what is cached: %s", strerror(reason)) : 0;
}

int disk_drop(int fd, uint64_t *resident, struct err *e) {
    if (fsync(fd))
        return err_set(e, ERR_IO, "cannot write the file out: %s", strerror(errno));
    return disk_forget(fd, resident, e);
}

int disk_forget(int fd, uint64_t *resident, struct err *e) {
    struct stat s;
    int reason = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (reason)
        return err_set(e, ERR_IO, "cannot drop the file from the cache: %s", strerror(reason));
    if (!resident)
        return 0;
    *resident = 0;
    if (fstat(fd, &s))
        return err_set(e, ERR_IO, "cannot tell what is cached: %s", strerror(errno));
    return s.st_size ? count_resident(fd, (size_t)s.st_size, resident, e) : 0;
}

int tar_header(const char *name, uint64_t size, unsigned char out[TAR_BLOCK], struct err *e) {
    if (strlen(name) > 99 || size >> 33)
        return err_set(e, ERR_USAGE, "%s: a name over 99 bytes or a size of 8 GiB does not fit ustar", name);
    char *field = (char *)out;
    memset(out, 0, TAR_BLOCK);
    snprintf(field, 100, "%s", name);
    snprintf(field + 100, 8, "%07o", 0600U);
    snprintf(field + 108, 8, "%07o", 0U);
    snprintf(field + 116, 8, "%07o", 0U);
    snprintf(field + 124, 12, "%011llo", (unsigned long long)size);
    snprintf(field + 136, 12, "%011o", 0U);
    memset(field + 148, ' ', 8); /* the sum is taken with its own field blank */
    field[156] = '0';
    snprintf(field + 257, 6, "ustar");
    field[263] = field[264] = '0';
    unsigned sum = 0;
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += out[i];
    snprintf(field + 148, 8, "%06o", sum);
    return 0;
}
