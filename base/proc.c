#include "base/proc.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const uint64_t ns_per_s = 1000000000u;
/* A killed child that hangs in a driver cannot be reaped: it is given up, not waited for. */
static const uint64_t reap_patience_ns = 10 * ns_per_s;
enum { READ_BLOCK_BYTES = 64 << 10, REAP_STEP_NS = 1000000, FALLBACK_FD_MAX = 65536 };

/* Opened the wrong way round, and open gives the lowest free descriptor. */
void proc_fill_stdio(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void close_from(int first) {
    if (close_range((unsigned)first, ~0u, 0) == 0)
        return;
    for (int fd = first; fd < FALLBACK_FD_MAX; fd++)
        close(fd);
}

const char *proc_self(void) {
    const char *launcher = getenv("STEPCOST_LAUNCHER");
    return launcher && *launcher ? launcher : "/proc/self/exe";
}

/* Between fork and exec: async-signal-safe calls only. */
static _Noreturn void become_child(int socket, pid_t parent, const char *program, char *const argv[]) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Ctrl-C goes to the whole terminal group: the parent decides what becomes of its children. */
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The parent may have died before prctl: then no signal will come. */
    if (getppid() != parent)
        _exit(127);
    if (socket == PROC_CHILD_FD)
        fcntl(socket, F_SETFD, 0);
    else
        dup2(socket, PROC_CHILD_FD);
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close_from(PROC_CHILD_FD + 1);
    execv(program, argv);
    _exit(127);
}

/* Moves fd out of the way of stdin, stdout, stderr: a channel never has fd 0, so a zeroed one is closed. */
static int above_stdio(int fd) {
    if (fd > STDERR_FILENO)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return moved;
}

int proc_start_self(struct proc *p, char *const argv[], struct err *e) {
    int ends[2];
    *p = (struct proc){0};
    const char *program = proc_self();
    if (access(program, X_OK) != 0)
        return err_set(e, ERR_PEER, "cannot start a worker: %s: %s; is /proc mounted?", program,
                       strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set(e, ERR_PEER, "cannot start a worker: socketpair: %s", strerror(errno));
    ends[0] = above_stdio(ends[0]);
    ends[1] = above_stdio(ends[1]);
    pid_t parent = getpid();
    pid_t pid = ends[0] < 0 || ends[1] < 0 ? -1 : fork();
    if (pid == 0)
        become_child(ends[1], parent, program, argv);
    int saved = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return err_set(e, ERR_PEER, "cannot start a worker: %s", strerror(saved));
    }
    p->pid = pid;
    p->channel = proc_channel_make(ends[0]);
    return 0;
}

bool proc_poll_exit(struct proc *p) {
    if (p->pid <= 0)
        return true;
    pid_t got;
    do
        got = waitpid(p->pid, &p->status, WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    p->pid = 0;
    p->exited = got > 0;
    return true;
}

void proc_kill(struct proc *p) {
    if (!p)
        return;
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        uint64_t deadline_ns = clock_monotonic_ns() + reap_patience_ns;
        while (!proc_poll_exit(p) && clock_monotonic_ns() < deadline_ns)
            clock_sleep_ns(REAP_STEP_NS);
        p->pid = 0;
    }
    proc_channel_close(&p->channel);
}

const char *proc_describe_exit(int status, char *buffer, size_t size) {
    if (WIFSIGNALED(status))
        snprintf(buffer, size, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(buffer, size, "exited with status %d", WEXITSTATUS(status));
    return buffer;
}

struct proc_channel proc_channel_make(int fd) {
    return (struct proc_channel){.fd = fd};
}

void proc_channel_close(struct proc_channel *c) {
    if (!c)
        return;
    if (c->fd > 0)
        close(c->fd);
    text_free(&c->inbox);
    *c = (struct proc_channel){0};
}

int proc_send(struct proc_channel *c, const char *line, struct err *e) {
    size_t length = strlen(line);
    if (length > PROC_LINE_MAX)
        return err_set(e, ERR_PEER, "a message of %zu bytes is over the limit of %d", length, PROC_LINE_MAX);
    if (memchr(line, '\n', length))
        return err_set(e, ERR_PEER, "a message of two lines cannot be sent: \"%.40s...\"", line);
    struct iovec parts[2] = {{(char *)line, length}, {(char *)"\n", 1}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    while (parts[1].iov_len > 0) {
        ssize_t sent = sendmsg(c->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return err_set(e, ERR_PEER, "the other process is gone: %s", strerror(errno));
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + part;
            parts[i].iov_len -= part;
            sent -= (ssize_t)part;
        }
    }
    return 0;
}

static char *line_end(const struct proc_channel *c) {
    size_t waiting = c->inbox.length - c->taken;
    return waiting ? memchr(c->inbox.data + c->taken, '\n', waiting) : NULL;
}

/* Waits until fd can be read: 1, or 0 at the deadline. */
static int wait_readable(int fd, uint64_t deadline_ns, struct err *e) {
    for (;;) {
        uint64_t now_ns = clock_monotonic_ns();
        uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
        struct timespec left = {.tv_sec = (time_t)(left_ns / ns_per_s),
                                .tv_nsec = (long)(left_ns % ns_per_s)};
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = ppoll(&p, 1, deadline_ns == UINT64_MAX ? NULL : &left, NULL);
        if (ready >= 0)
            return ready;
        if (errno != EINTR)
            return err_set(e, ERR_PEER, "cannot wait for the other process: %s", strerror(errno));
    }
}

static int read_more(struct proc_channel *c, struct err *e) {
    char block[READ_BLOCK_BYTES];
    ssize_t got;
    do
        got = read(c->fd, block, sizeof block);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_set(e, ERR_PEER, "cannot read from the other process: %s", strerror(errno));
    if (got == 0)
        return err_set(e, ERR_PEER, "the other process closed the channel%s",
                       c->inbox.length > c->taken ? " in the middle of a line" : "");
    text_add_bytes(&c->inbox, block, (size_t)got);
    return 0;
}

static void forget_taken(struct proc_channel *c) {
    if (c->taken == 0)
        return;
    memmove(c->inbox.data, c->inbox.data + c->taken, c->inbox.length - c->taken + 1);
    c->inbox.length -= c->taken;
    c->taken = 0;
}

int proc_receive(struct proc_channel *c, char **line, uint64_t deadline_ns, struct err *e) {
    char *end;
    while (!(end = line_end(c))) {
        forget_taken(c);
        if (c->inbox.length > PROC_LINE_MAX)
            return err_set(e, ERR_PEER, "a line of more than %d bytes came from the other process",
                           PROC_LINE_MAX);
        int ready = wait_readable(c->fd, deadline_ns, e);
        if (ready <= 0)
            return ready;
        if (read_more(c, e) != 0)
            return -1;
    }
    *line = c->inbox.data + c->taken;
    *end = '\0';
    c->taken = (size_t)(end - c->inbox.data) + 1;
    if (strlen(*line) != (size_t)(end - *line))
        return err_set(e, ERR_PEER, "a NUL byte came from the other process");
    return 1;
}
