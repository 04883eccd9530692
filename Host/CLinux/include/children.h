/* Starting a child process, and functions of glibc that Swift's Glibc module hides. */
#ifndef CLINUX_CHILDREN_H
#define CLINUX_CHILDREN_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Calls pipe2(2) with O_CLOEXEC. Returns 0, or -1 with errno. */
int linux_pipe_cloexec(int ends[2]);

/* Calls pthread_setname_np(3). A name has at most 15 bytes. Returns an errno value. */
int linux_set_thread_name(pthread_t thread, const char *name);

/* Calls sem_clockwait(3) with a time from now, in nanoseconds, by the monotonic clock. Returns 0, or -1 with errno:
   ETIMEDOUT if there was no signal in that time, or EINTR. */
int linux_sem_wait(sem_t *semaphore, int64_t nanoseconds);

/* A program to be started. */
typedef struct {
    const char *program;              /* Searched for in PATH. */
    char *const *arguments;           /* With the program's name, ended by a null pointer. */
    char *const *environment;         /* Ended by a null pointer; null gives the caller's own. */
    int input;                        /* The descriptor that becomes the standard input, above 2; -1 for none. */
    int output;                       /* The descriptor that becomes the standard output. It is above 2. */
    int errors;                       /* The descriptor that becomes the standard error, above 2; -1 for the caller's. */
    bool discards_errors;             /* Whether nobody sees the standard error. */
    const char *folder;               /* The working folder; null gives the caller's. */
    bool ends_with_thread;            /* Whether it is killed when the calling thread ends, and so with its process. */
    rlim_t files;                     /* The soft limit of open files, unless the hard limit is below. */
} linux_child;

/* Starts a program in a process group of its own, without the caller's other descriptors, and with
 * standard signal actions and none blocked. Unlike posix_spawn(3), it can give the program another limit of open files.
 * Returns an errno value; the child that could not become the program is reaped by then. */
int linux_spawn(const linux_child *child, pid_t *pid);

/* Makes the process the parent of what its children leave behind when they end. Returns 0, or -1 with errno set. */
int linux_adopt_orphans(void);

/* Keeps this process from starting others and from sending them signals (seccomp(2)): fork(2) fails with EAGAIN, kill(2) of
 * another with EPERM. Threads can be started. Returns 0, or
 * -1 with errno. Nothing undoes it. */
int linux_forbid_children(void);

#endif
