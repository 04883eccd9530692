#define _GNU_SOURCE
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
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

static atomic_bool is_heeded[NSIG];

static int heed(int signal) {
    struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL);
}

int linux_heed_signal(int signal, int descriptor) {
    owner = getpid();
    atomic_store(&heard, descriptor);
    int result = heed(signal);
    if (result == 0) atomic_store(&is_heeded[signal], true);
    return result;
}

static atomic_int taken;

void linux_heed_again(void) {
    struct sigaction now;
    for (int signal = 1; signal < NSIG; signal++) {
        /* system(3) ignores this one while its program runs, and puts it back. */
        if (signal == SIGINT) continue;
        if (!atomic_load(&is_heeded[signal]) || sigaction(signal, NULL, &now) != 0 || now.sa_handler == tell) continue;
        if (heed(signal) == 0) atomic_store(&taken, signal);
    }
}

int linux_find_taken_signal(void) {
    linux_heed_again();
    return atomic_exchange(&taken, 0);
}
