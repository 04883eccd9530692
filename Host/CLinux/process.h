/* What a plugin must leave to the host: descriptors, signal dispositions and timers. Used within this module. */
#ifndef CLINUX_PROCESS_H
#define CLINUX_PROCESS_H

/* Opens descriptors by which it is known whether a plugin closed the host's, takes the signals of timers,
 * and ignores SIGPIPE. */
void linux_watch_process(void);

/* Whether these descriptors are still there. May be called in a signal handler. */
int linux_descriptors_are_there(void);

/* Whether standard error is what it was, and no other file that was opened since. May be called in a signal handler. */
int linux_may_write_errors(void);

/* Records the last call of this thread as one that closed the host's descriptors, and ends the process. Returns if this
 * thread made no call. */
void linux_call_closed_descriptors(void);

#endif
