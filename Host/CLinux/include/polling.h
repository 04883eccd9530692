/* epoll(7) and eventfd(2), which Swift's Glibc module hides. */
#ifndef CLINUX_POLLING_H
#define CLINUX_POLLING_H

#include <stdbool.h>
#include <stdint.h>

enum { LINUX_POLL_IN = 1, LINUX_POLL_OUT = 2, LINUX_POLL_ERROR = 4, LINUX_POLL_GONE = 8 };

/* What can be done with a descriptor, as a set of the values above. */
typedef struct {
    uint64_t token;                   /* What the descriptor was added with, or else its number. */
    uint32_t what;
} linux_poll_event;

/* Returns an epoll descriptor, or -1 with errno. A call of a plugin that closes it is one that closed the host's
 * descriptors. */
int linux_poll_create(void);

/* Closes an epoll descriptor or an eventfd. */
void linux_poll_close(int descriptor);

/* Has linux_poll_wait tell what can be done with a descriptor, instead of what it told before. Returns 0, or -1 with errno. */
int linux_poll_watch(int poll, int descriptor, uint32_t what);

/* Has linux_poll_wait tell once of each time at which a descriptor becomes readable or writable, or the socket at the other
 * end is closed. Returns 0, or -1 with errno. */
int linux_poll_add(int poll, int descriptor, uint64_t token);

/* Has linux_poll_wait tell nothing more of a descriptor. */
void linux_poll_forget(int poll, int descriptor);

/* Waits for at most that many milliseconds, -1 for ever. Returns the number of events; 0 after a signal too. Ends the
 * process if somebody has closed the epoll descriptor. */
int linux_poll_wait(int poll, linux_poll_event *events, int count, int milliseconds);

/* Returns an eventfd, or -1 with errno. It is watched as an epoll descriptor is. */
int linux_wake_create(void);
void linux_wake(int wake);
/* Takes back what linux_wake did. */
void linux_wake_take(int wake);

#endif
