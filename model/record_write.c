#include "base/json.h"
#include "base/mem.h"
#include "model/record.h"
#include "model/record_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct record_writer {
    int fd;
    char *path;
    uint64_t size_bytes; /* of the whole lines */
    char hash[RECORD_HASH_SIZE];
    bool lost; /* what is on the disk is not known any more */
};

void record_close(struct record_writer *w) {
    if (!w)
        return;
    if (w->fd >= 0)
        close(w->fd); /* and so the lock is gone */
    free(w->path);
    free(w);
}

static struct record_writer *open_locked(const char *path, int flags, struct err *e) {
    struct stat status;
    struct record_writer *w = xcalloc(1, sizeof *w);
    w->path = xstrdup(path);
    memcpy(w->hash, record_hash_none, sizeof w->hash);
    w->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | flags, 0644);
    if (w->fd < 0 && errno != EISDIR)
        err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    else if (w->fd < 0 || fstat(w->fd, &status) != 0 || !S_ISREG(status.st_mode))
        err_set(e, ERR_USAGE, "%s: not a regular file; name another for the record", path);
    else if (flock(w->fd, LOCK_EX | LOCK_NB) != 0)
        err_set(e, ERR_IO, "%s: cannot lock it: %s; if another run is writing it, wait or name another file",
                path, errno == EWOULDBLOCK ? "it is locked" : strerror(errno));
    else
        return w;
    record_close(w);
    return NULL;
}

/* A scan of the file that w holds. */
static int scan_open(struct record_scan *s, const struct record_writer *w, struct err *e) {
    int fd = fcntl(w->fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "r") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return err_set(e, ERR_IO, "%s: cannot read: %s", w->path, strerror(errno));
    }
    record_scan_open(s, file);
    return 0;
}

static int cut(struct record_writer *w, uint64_t size_bytes, struct err *e) {
    if (ftruncate(w->fd, (off_t)size_bytes) != 0 || fsync(w->fd) != 0)
        return err_set(e, ERR_IO, "%s: cannot cut to %llu bytes: %s", w->path, (unsigned long long)size_bytes,
                       strerror(errno));
    w->size_bytes = size_bytes;
    return 0;
}

/* So that a new file's name is on the disk too. */
static int sync_folder(const char *path, struct err *e) {
    char *copy = xstrdup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    /* EINVAL: a file system that has no such thing */
    bool done = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    int error = errno;
    if (fd >= 0)
        close(fd);
    return done ? 0 : err_set(e, ERR_IO, "%s: cannot flush its folder: %s", path, strerror(error));
}

/* A run that was killed before its first line was whole leaves nothing worth keeping. */
static int check_unused(struct record_writer *w, struct err *e) {
    struct record_scan scan;
    struct record_line line;
    if (scan_open(&scan, w, e) != 0)
        return -1;
    int got = record_scan_next(&scan, &line, e);
    bool headless = scan.headless;
    record_scan_close(&scan);
    if (got == 1)
        json_decref(line.value);
    if (got < 0)
        return err_wrap(e, "%s", w->path);
    if (!headless)
        return err_set(e, ERR_USAGE, "%s: is there already; continue it with --resume or name another file",
                       w->path);
    return 0;
}

struct record_writer *record_create(const char *path, struct err *e) {
    struct record_writer *w = open_locked(path, O_CREAT, e);
    if (!w)
        return NULL;
    if (check_unused(w, e) == 0 && cut(w, 0, e) == 0 && sync_folder(path, e) == 0)
        return w;
    record_close(w);
    return NULL;
}

static int check_same_method(const struct record_line *head, struct err *e) {
    int64_t schema, method;
    if (json_get_int(head->value, "schema", &schema, e) != 0 ||
        json_get_int(head->value, "method", &method, e) != 0)
        return -1;
    if (schema != RECORD_SCHEMA || method != RECORD_METHOD)
        return err_set(
            e, ERR_PARSE,
            "was made with schema %lld, method %lld; this program has %d and %d, and results of two "
            "methods do not mix: start a new record",
            (long long)schema, (long long)method, RECORD_SCHEMA, RECORD_METHOD);
    return 0;
}

/* Why a record whose lines have all been seen cannot go on; 0 when it can. */
static int check_open_ended(const struct record_writer *w, const struct record_scan *s, bool ended,
                            struct err *e) {
    if (s->headless)
        return err_set(e, ERR_UNFINISHED, "ends before its first line does; run again without --resume");
    if (w->size_bytes == 0)
        return err_set(e, ERR_PARSE, "is no record of this program, or its first line was changed");
    if (s->broken_line > 0)
        return err_set(e, ERR_PARSE,
                       "line %zu: the chain of hashes breaks here: it was changed or damaged after it was "
                       "written; start a new record",
                       s->broken_line);
    if (ended)
        return err_set(e, ERR_PARSE, "is finished: nothing is left to resume; start a new record");
    return 0;
}

static int verify(struct record_writer *w, struct record_scan *s, struct err *e) {
    struct record_line line;
    bool ended = false;
    int got;
    while ((got = record_scan_next(s, &line, e)) == 1) {
        int head = line.number == 1 ? check_same_method(&line, e) : 0;
        ended = ended || strcmp(line.kind, "end") == 0;
        w->size_bytes = line.end_byte;
        memcpy(w->hash, line.hash, sizeof w->hash);
        json_decref(line.value);
        if (head != 0)
            return -1;
    }
    return got < 0 ? -1 : check_open_ended(w, s, ended, e);
}

struct record_writer *record_continue(const char *path, uint64_t *cut_bytes, struct err *e) {
    struct record_scan scan;
    struct record_writer *w = open_locked(path, 0, e);
    if (!w)
        return NULL;
    if (scan_open(&scan, w, e) != 0) {
        record_close(w);
        return NULL;
    }
    int result = verify(w, &scan, e);
    *cut_bytes = scan.torn_bytes;
    record_scan_close(&scan);
    if (result != 0)
        err_wrap(e, "%s", path);
    else if (cut(w, w->size_bytes, e) == 0)
        return w;
    record_close(w);
    return NULL;
}

static int write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

/* bytes are a line and its newline. A line that did not get through is cut off again. */
static int write_line(struct record_writer *w, const char *bytes, size_t length, struct err *e) {
    bool written = write_all(w->fd, bytes, length) == 0;
    if (!written || fsync(w->fd) != 0) {
        int error = errno;
        struct err ignored;
        w->lost = written || cut(w, w->size_bytes, &ignored) != 0;
        return err_set(e, ERR_IO, "%s: cannot write: %s; make room, then continue it with --resume", w->path,
                       strerror(error));
    }
    w->size_bytes += length;
    record_hash(bytes, length - 1, w->hash);
    return 0;
}

int record_append(struct record_writer *w, const char *kind, const json_t *body, struct err *e) {
    if (w->lost)
        return err_set(e, ERR_IO, "%s: an earlier line could not be written; continue it with --resume",
                       w->path);
    json_t *whole = json_pack("{s:s, s:s}", "kind", kind, "prev", w->hash);
    json_object_update_missing(whole, (json_t *)body);
    char *line = json_line(whole);
    json_decref(whole);
    size_t length = strlen(line);
    int result;
    if (length > RECORD_LINE_MAX) {
        result = err_set(e, ERR_USAGE, "%s: a %s line of %zu bytes; the limit is %d: make its chunk smaller",
                         w->path, kind, length, RECORD_LINE_MAX);
    } else {
        line[length] = '\n'; /* in place of the NUL: one write makes the line whole */
        result = write_line(w, line, length + 1, e);
    }
    free(line);
    return result;
}
