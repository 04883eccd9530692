/* Signals that threads hear of. */
#ifndef CLINUX_SIGNALS_H
#define CLINUX_SIGNALS_H

/* Has a signal write its number into a descriptor, as a byte, instead of what it did before. The descriptor must never be
 * closed, and be the same for all signals. Returns 0, or -1 with errno. */
int linux_heed_signal(int signal, int descriptor);

/* Heeds the signals again, except SIGINT, that somebody in this process has taken away since. */
void linux_heed_again(void);

/* Does the same. Returns a signal that was taken away since the last call of this function, or 0. */
int linux_find_taken_signal(void);

#endif
