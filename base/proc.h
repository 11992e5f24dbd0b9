/* Child processes with a socket to each, and lines over it.
 *
 * A child is this program again (self exec, so nothing of the parent's libraries lives on in it). It dies
 * with its parent (PR_SET_PDEATHSIG) and ends by its parent's deadline. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Fills closed standard streams, so that no file opened later is taken for one: a line for stderr would land
 * in it. Reading and writing them still fails. For the start of main. */
void proc_fill_stdio(void);

enum { PROC_LINE_MAX = 4 << 20 };

/* One end of a line channel: messages are single lines of at most PROC_LINE_MAX bytes. */
struct proc_channel {
    int fd;
    struct text inbox;
    size_t taken; /* bytes of inbox already handed out */
};

struct proc {
    pid_t pid; /* 0 = not running */
    struct proc_channel channel;
    bool exited;
    int status; /* as waitpid gives it, valid when exited */
};

/* What starts this program: $STEPCOST_LAUNCHER, where that started it (the launcher of a bundle that runs the
 * program on a loader of its own: /proc/self/exe is that loader then), else /proc/self/exe. Borrowed from the
 * environment. */
const char *proc_self(void);
/* Starts this program (proc_self) with argv (NULL-terminated, argv[0] included) and the channel
 * on file descriptor PROC_CHILD_FD. stdout and stdin of the child are /dev/null; stderr is kept; every other
 * descriptor is closed. The child ignores SIGINT: what Ctrl-C means is its parent's decision. It dies with
 * the thread that started it, so start children from the main thread. */
enum { PROC_CHILD_FD = 3 };
int proc_start_self(struct proc *p, char *const argv[], struct err *e) MUST_CHECK;
/* SIGKILL, reap, close. Safe on a zeroed or ended proc. A child that hangs in the kernel is given up after
 * 10 s (exited stays false). */
void proc_kill(struct proc *p);
/* Reaps without waiting; true when the child has ended. */
bool proc_poll_exit(struct proc *p);
/* "exited with status 3", "killed by signal 11 (Segmentation fault)"; borrowed from buffer. */
const char *proc_describe_exit(int status, char *buffer, size_t size);

struct proc_channel proc_channel_make(int fd);
void proc_channel_close(struct proc_channel *c);
/* Sends line and a newline; waits while the other side does not read. ERR_PEER when it is gone, or when line
 * has a newline or is too long. SIGPIPE is not raised. */
int proc_send(struct proc_channel *c, const char *line, struct err *e) MUST_CHECK;
/* Next line into *line (borrowed until the next call): 1 = line, 0 = deadline passed, -1 = error or
 * end of file (ERR_PEER). deadline_ns is on the monotonic clock; UINT64_MAX waits forever. */
int proc_receive(struct proc_channel *c, char **line, uint64_t deadline_ns, struct err *e) MUST_CHECK;

#endif
