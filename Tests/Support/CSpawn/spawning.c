#define _GNU_SOURCE
#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The size of the memory that the child shares until it is the program. Most of it is the child's stack. */
enum { SHARED = 256 * 1024 };

/* ThreadSanitizer's own functions would change the caller's memory. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COPIES_MEMORY 1
#endif
#endif
#ifdef COPIES_MEMORY
enum { FLAGS = CLONE_VFORK | CLONE_FILES | SIGCHLD };
#else
enum { FLAGS = CLONE_VFORK | CLONE_FILES | CLONE_VM | SIGCHLD };
#endif

extern int __clone(int (*function)(void *), void *stack, int flags, void *context, ...);

typedef struct {
    const char *program;
    char *const *arguments;
    char *const *environment;
    const char *output;
    const char *errors;
    int failure;
} start;

/* The child calls the system itself: a sanitizer's own functions would wait for locks that the caller's other threads had
 * when the child was made. */
__attribute__((no_sanitize("thread"))) static long open_as(int descriptor, const char *path, int flags) {
    const long opened = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0644);
    if (opened < 0) return -1;
    if (opened == descriptor) return syscall(SYS_fcntl, descriptor, F_SETFD, 0);
    return syscall(SYS_dup3, opened, descriptor, 0);
}

/* Makes the calling process the child. Returns if that fails. */
__attribute__((no_sanitize("thread"))) static int become(void *context) {
    start *const made = context;
    /* The kernel's form of a signal's standard action, and of no signals. */
    const uint64_t standard[4] = {0}, none = 0;
    for (int number = 1; number < NSIG; number++) syscall(SYS_rt_sigaction, number, standard, NULL, sizeof none);
    /* Until here the child uses the caller's table of descriptors. The own table begins with three descriptors. */
    if (syscall(SYS_close_range, 3, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0 && syscall(SYS_setpgid, 0, 0) == 0
        && open_as(0, "/dev/null", O_RDONLY) >= 0 && open_as(1, made->output, O_WRONLY | O_CREAT | O_APPEND) >= 0
        && open_as(2, made->errors, O_WRONLY | O_CREAT | O_APPEND) >= 0
        && syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none) == 0)
        execvpe(made->program, made->arguments, made->environment);
    made->failure = errno;
    syscall(SYS_exit_group, 127);
    return 0;
}

int spawn_program(const char *program, char *const *arguments, char *const *environment, const char *output,
                  const char *errors, int *pid) {
    char *const shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return errno;
    start *const made = (start *)shared;
    *made = (start){program, arguments, environment, output, errors, 0};
    /* The child may have the caller's memory until it is another program: no handler may run in it. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *pid = __clone(become, shared + SHARED, FLAGS, made);
    int failure = *pid < 0 ? errno : made->failure;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(shared, SHARED);
    if (failure != 0 && *pid > 0) {
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR) {}
    }
    return failure;
}
