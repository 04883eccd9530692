/* The check before each function of the host: it tells whether the function may be called now, and records refusals. */
#include "fake.h"

#include <string.h>

larder_fake *fake_of(const larder_host *host) { return host->context; }

larder_status enter(larder_fake *fake, const char *function, uint32_t when) {
    larder_status status = LARDER_OK;
    if (fake->state == OUTSIDE || !pthread_equal(fake->thread, pthread_self())) {
        status = LARDER_WRONG_THREAD;
    } else if (!(when & 1u << fake->state)) {
        status = LARDER_WRONG_STATE;
    }
    for (size_t i = 0; status == LARDER_OK && i < fake->faults.count; i++) {
        struct fault *fault = &fake->faults.at[i];
        if (strcmp(fault->function, function) != 0) continue;
        if (fault->always || (fault->nth > 0 && --fault->nth == 0)) return fault->status;
    }
    if (status != LARDER_OK) record(fake, LARDER_FAKE_MISTAKE, function)->status = status;
    return status;
}

larder_status refuse(larder_fake *fake, const char *function, larder_status status) {
    record(fake, LARDER_FAKE_MISTAKE, function)->status = status;
    return status;
}

int is_newer(const larder_fake *fake) { return fake->module && fake->module->abi_minor > LARDER_ABI_MINOR; }

larder_status refuse_unknown(larder_fake *fake, const char *function) {
    return is_newer(fake) ? LARDER_UNSUPPORTED : refuse(fake, function, LARDER_INVALID_ARGUMENT);
}

void check_status(larder_fake *fake, const char *call, larder_status status) {
    if (status > LARDER_OK || (status < LARDER_STATUS_LAST && !is_newer(fake))) refuse(fake, call, status);
}
