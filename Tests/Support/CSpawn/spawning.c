#define _GNU_SOURCE
#include "spawning.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The size of the stack on which the child runs until it is the program. */
enum { STACK = 256 * 1024 };

typedef struct {
    const char *program;
    char *const *arguments;
    char *const *environment;
    const char *output;
    const char *errors;
    int failure;
} start;

static int open_as(int descriptor, const char *path, int flags) {
    const int opened = open(path, flags | O_CLOEXEC, 0644);
    if (opened < 0) return -1;
    if (opened == descriptor) return fcntl(descriptor, F_SETFD, 0);
    return dup2(opened, descriptor);
}

/* Makes the calling process the child. Returns if that fails. */
static int become(void *context) {
    start *const made = context;
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    sigset_t none;
    sigemptyset(&none);
    /* Until here the child uses the caller's table of descriptors. The own table begins with three descriptors. */
    if (close_range(3, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0 && setpgid(0, 0) == 0
        && open_as(0, "/dev/null", O_RDONLY) >= 0 && open_as(1, made->output, O_WRONLY | O_CREAT | O_APPEND) >= 0
        && open_as(2, made->errors, O_WRONLY | O_CREAT | O_APPEND) >= 0
        && sigprocmask(SIG_SETMASK, &none, NULL) == 0)
        execvpe(made->program, made->arguments, made->environment);
    made->failure = errno;
    _exit(127);
}

int spawn_program(const char *program, char *const *arguments, char *const *environment, const char *output,
                  const char *errors, int *pid) {
    start made = {program, arguments, environment, output, errors, 0};
    char *const stack = malloc(STACK);
    if (stack == NULL) return ENOMEM;
    /* The child has the caller's memory until it is another program: no handler may run in it. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *pid = clone(become, stack + STACK, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &made);
    if (*pid < 0) made.failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(stack);
    if (made.failure != 0 && *pid > 0) {
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR) {}
    }
    return made.failure;
}
