#include "kernels/disk/disk_folder.h"

#include "base/mem.h"
#include "kernels/disk/disk_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define PREFIX    "stepcost-disk-"
#define LOCK_NAME "lock"
#define FILE_NAME "file"

int disk_room(const char *folder, uint64_t *out_bytes, uint64_t *free_bytes, struct err *e) {
    struct statvfs fs;
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    if (statvfs(folder, &fs))
        return err_set(e, ERR_IO, "%s: cannot tell the free space: %s", folder, strerror(errno));
    getrlimit(RLIMIT_FSIZE, &limit);
    uint64_t available = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (free_bytes)
        *free_bytes = available;
    *out_bytes = disk_allowance(available, limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur);
    return 0;
}

/* ---- what it lies on ---- */

static const char *kind_of(const char *type) {
    static const struct {
        const char *begins, *kind;
    } kinds[] = {{"tmpfs", "memory"}, {"ramfs", "memory"},   {"overlay", "overlay"}, {"nfs", "network"},
                 {"cifs", "network"}, {"smb", "network"},    {"ceph", "network"},    {"lustre", "network"},
                 {"gpfs", "network"}, {"beegfs", "network"}, {"9p", "network"},      {"virtiofs", "network"},
                 {"fuse", "fuse"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strncmp(type, kinds[i].begins, strlen(kinds[i].begins)))
            return kinds[i].kind;
    return "local";
}

/* A blank in a path is written \040. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; to++) {
        bool octal = from[0] == '\\' && strspn(from + 1, "01234567") >= 3;
        *to = octal ? (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0')) : *from;
        from += octal ? 4 : 1;
    }
    *to = '\0';
}

static bool lies_below(const char *path, const char *mount) {
    size_t length = strlen(mount);
    if (!strcmp(mount, "/"))
        return true;
    return !strncmp(path, mount, length) && (path[length] == '\0' || path[length] == '/');
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" (proc(5)). A later mount
 * over the same place hides the earlier. */
static void read_mount(char *line, const char *path, size_t *best, struct disk_mount *out) {
    char *words[6], *rest = NULL, *word = strtok_r(line, " \n", &rest);
    size_t count = 0;
    for (; word && count < 6; word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    while (word && strcmp(word, "-") != 0)
        word = strtok_r(NULL, " \n", &rest);
    char *type = strtok_r(NULL, " \n", &rest), *source = strtok_r(NULL, " \n", &rest);
    if (count < 6 || !type || !source)
        return;
    unescape(words[4]);
    size_t length = strlen(words[4]);
    if (!lies_below(path, words[4]) || length < *best)
        return;
    *best = length;
    unescape(source);
    snprintf(out->type, sizeof out->type, "%s", type);
    snprintf(out->source, sizeof out->source, "%s", source);
    snprintf(out->options, sizeof out->options, "%s", words[5]);
}

/* A partition's queue is its disk's. */
static const char *read_rotational(const char *root, const char *path) {
    static const char *const places[] = {"queue", "../queue"};
    struct stat s;
    if (stat(path, &s))
        return "";
    for (int i = 0; i < 2; i++) {
        char *name = xasprintf("%s/sys/dev/block/%u:%u/%s/rotational", root, major(s.st_dev), minor(s.st_dev),
                               places[i]);
        FILE *in = fopen(name, "re");
        int c = in ? fgetc(in) : EOF;
        if (in)
            fclose(in);
        free(name);
        if (c == '0' || c == '1')
            return c == '1' ? "yes" : "no";
    }
    return "";
}

void disk_mount_read(const char *root, const char *folder, struct disk_mount *out) {
    *out = (struct disk_mount){.kind = "", .rotational = ""};
    char *path = realpath(folder, NULL), *name = xasprintf("%s/proc/self/mountinfo", root), *line = NULL;
    size_t size = 0, best = 0;
    FILE *in = fopen(name, "re");
    while (path && in && getline(&line, &size, in) > 0)
        read_mount(line, path, &best, out);
    if (in)
        fclose(in);
    if (*out->type)
        out->kind = kind_of(out->type);
    if (path)
        out->rotational = read_rotational(root, path);
    free(line);
    free(name);
    free(path);
}

/* ---- the folder of our own ---- */

void disk_file_name(uint64_t index, char out[DISK_NAME_SIZE]) {
    snprintf(out, DISK_NAME_SIZE, "%06" PRIu64, index);
}

static bool is_ours(const char *name) {
    return !strcmp(name, LOCK_NAME) || !strcmp(name, FILE_NAME) || name[strspn(name, "0123456789")] == '\0';
}

static void remove_contents(int fd) {
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = own >= 0 ? fdopendir(own) : NULL;
    if (!dir) {
        if (own >= 0)
            close(own);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && is_ours(entry->d_name))
            unlinkat(fd, entry->d_name, 0);
    closedir(dir);
}

/* Someone else's living run holds the lock; one that is just being made has none yet. */
static void sweep_one(int parent_fd, const char *name) {
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat s;
    if (fd < 0)
        return;
    int lock_fd = openat(fd, LOCK_NAME, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool own = !fstat(fd, &s) && s.st_uid == geteuid();
    bool left = lock_fd >= 0 ? !flock(lock_fd, LOCK_EX | LOCK_NB) : own && time(NULL) - s.st_mtime > 60;
    if (own && left) {
        remove_contents(fd);
        unlinkat(parent_fd, name, AT_REMOVEDIR);
    }
    if (lock_fd >= 0)
        close(lock_fd);
    close(fd);
}

static void sweep(int parent_fd) {
    int own = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = own >= 0 ? fdopendir(own) : NULL;
    if (!dir) {
        if (own >= 0)
            close(own);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
            sweep_one(parent_fd, entry->d_name);
    closedir(dir);
}

void disk_sweep(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    sweep(fd);
    close(fd);
}

int disk_scratch_open(const char *folder, struct disk_scratch *out, struct err *e) {
    *out = (struct disk_scratch){-1, -1, -1, ""};
    out->parent_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->parent_fd < 0)
        return err_set(e, ERR_IO, "%s: %s", folder,
                       errno == ENOENT    ? "there is no such folder; make it, or name another"
                       : errno == ENOTDIR ? "is no folder; name the folder to measure"
                                          : strerror(errno));
    sweep(out->parent_fd);
    char *path = xasprintf("%s/" PREFIX "XXXXXX", folder);
    if (mkdtemp(path)) {
        snprintf(out->name, sizeof out->name, "%s", strrchr(path, '/') + 1);
        out->fd = openat(out->parent_fd, out->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (out->fd >= 0)
        out->lock_fd = openat(out->fd, LOCK_NAME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int result = 0;
    /* Where locks are not to be had, only the cleaning up after a kill is lost. */
    if (out->lock_fd < 0 || (flock(out->lock_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK))
        result = err_set(e, ERR_IO, "%s: cannot write there: %s", folder, strerror(errno));
    free(path);
    return result;
}

void disk_scratch_close(struct disk_scratch *s) {
    if (s->fd >= 0) {
        remove_contents(s->fd);
        close(s->fd);
    }
    if (*s->name)
        unlinkat(s->parent_fd, s->name, AT_REMOVEDIR);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    if (s->parent_fd >= 0)
        close(s->parent_fd);
    *s = (struct disk_scratch){-1, -1, -1, ""};
}

int disk_scratch_file(const struct disk_scratch *s, int flags, struct err *e) {
    int fd = openat(s->fd, FILE_NAME, flags | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, errno == ENOSPC || errno == EDQUOT ? ERR_DEVICE_MEMORY : ERR_IO,
                       "cannot make a file: %s", strerror(errno));
    unlinkat(s->fd, FILE_NAME, 0);
    return fd;
}
