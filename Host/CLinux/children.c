#define _GNU_SOURCE
#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int linux_pipe_cloexec(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int linux_set_thread_name(pthread_t thread, const char *name) { return pthread_setname_np(thread, name); }

int linux_sem_wait(sem_t *semaphore, int64_t nanoseconds) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t sum = end.tv_nsec + nanoseconds % 1000000000;
    end.tv_sec += nanoseconds / 1000000000 + sum / 1000000000;
    end.tv_nsec = sum % 1000000000;
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
}

/* Makes the calling process the child. Returns an errno value if that fails. */
static int become(const linux_child *child) {
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    if (setpgid(0, 0) != 0) return errno;
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || dup2(child->input < 0 ? nothing : child->input, 0) < 0 || dup2(child->output, 1) < 0) return errno;
    const int errors = child->discards_errors ? nothing : child->errors;
    if (errors >= 0 && dup2(errors, 2) < 0) return errno;
    if (close_range(3, UINT_MAX, 0) != 0) return errno;
    if (child->ends_with_thread && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
    if (child->folder != NULL && chdir(child->folder) != 0) return errno;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return errno;
    if (child->files < files.rlim_max) files.rlim_cur = child->files;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) return errno;
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) != 0) return errno;
    execvpe(child->program, child->arguments, child->environment != NULL ? child->environment : environ);
    return errno;
}

int linux_spawn(const linux_child *child, pid_t *pid) {
    /* The child has the caller's memory until it is another program: no handler may run in it, and its failure is
     * written where the caller reads it. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    volatile int failure = 0;
    const pid_t made = vfork();
    if (made == 0) {
        failure = become(child);
        _exit(127);
    }
    if (made < 0) failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0 && made > 0) {
        while (waitpid(made, NULL, 0) < 0 && errno == EINTR) {}
    }
    *pid = made;
    return failure;
}

int linux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1); }

int linux_forbid_children(void) {
    /* The number of the call and the low half of its first argument, which is that of clone(2) with the flags. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        /* The C library then calls clone(2), whose flags can be read. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
#ifdef SYS_fork
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fork, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 4, 0),
        /* Signals are for this process alone. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigqueueinfo, 4, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 4, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
