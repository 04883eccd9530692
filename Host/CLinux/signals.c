#define _GNU_SOURCE
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int heard = -1;

static void tell(int signal) {
    const int before = errno;
    const unsigned char number = (unsigned char)signal;
    /* A full pipe holds signals enough. */
    if (write(atomic_load(&heard), &number, 1) < 0) {}
    errno = before;
}

int linux_heed_signal(int signal, int descriptor) {
    atomic_store(&heard, descriptor);
    struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL);
}
