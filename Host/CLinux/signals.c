#define _GNU_SOURCE
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int heard = -1;
static pid_t owner;

static void tell(int signal) {
    /* The pipe is the owner's. A copy of the process that a plugin made by fork(2) does as if nobody heeded. */
    if (getpid() != owner) {
        sigset_t this;
        sigemptyset(&this);
        sigaddset(&this, signal);
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(signal, &standard, NULL);
        raise(signal);
        sigprocmask(SIG_UNBLOCK, &this, NULL);
        return;
    }
    const int before = errno;
    const unsigned char number = (unsigned char)signal;
    /* A full pipe holds signals enough. */
    if (write(atomic_load(&heard), &number, 1) < 0) {}
    errno = before;
}

int linux_heed_signal(int signal, int descriptor) {
    owner = getpid();
    atomic_store(&heard, descriptor);
    struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL);
}
