/* What a plugin must leave to the host: descriptors, signal dispositions and timers. Used within this module. */
#ifndef CLINUX_PROCESS_H
#define CLINUX_PROCESS_H

/* Opens descriptors by which it is known whether a plugin closed the host's, takes the signals of timers,
 * and ignores SIGPIPE. */
void linux_watch_process(void);

/* Notes a descriptor by which a thread of the host waits, and forgets it. */
void linux_await(int number);
void linux_await_no_more(int number);

/* Whether these descriptors are still there. May be called in a signal handler. */
int linux_descriptors_are_there(void);

/* Whether standard error is what it was, and no other file that was opened since. May be called in a signal handler. */
int linux_may_write_errors(void);

/* Records the last call of this thread as one that closed the host's descriptors, and ends the process. Returns if this
 * thread made no call. */
void linux_call_closed_descriptors(void);

/* Ends the process, because a thread of the host finds that the descriptor by which it waits is gone. The call that is
 * under way is recorded as the one that closed it, if there is only one. */
_Noreturn void linux_end_without_descriptor(void);

#endif
