/* ext/cancel.h: whether the current call should end, "larder.cancel/1".
 *
 * The host asks for an end when it is about to stop, or when the operator disables the plugin. A plugin with a long
 * loop checks from time to time, and returns LARDER_CANCELLED. The host then drops the requests of the call, so that
 * nothing is half done.
 *
 * Example:
 *
 *     static larder_status work(const larder_host *host, const larder_cancel *cancel, unsigned parts) {
 *         unsigned part;
 *         for (part = 0; part < parts; part++) {
 *             larder_status status = cancel->check(host);
 *             if (status != LARDER_OK) return status;
 *             // One part of the work.
 *         }
 *         return LARDER_OK;
 *     }
 */
#ifndef LARDER_EXT_CANCEL_H
#define LARDER_EXT_CANCEL_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_CANCEL "larder.cancel/1"

LARDER_BEGIN

/* The cancellation service. */
typedef struct larder_cancel {
    uint32_t struct_size;
    uint32_t reserved;

    /* Returns LARDER_OK if the call may go on, and LARDER_CANCELLED if it should end. It is cheap enough for an inner
     * loop. Once it has returned LARDER_CANCELLED, it does so until the call ends.
     * [any] since 1.0 */
    larder_status (*check)(const larder_host *host);

    /* Sets `*out` to the time at which the host gives the current call up, on the clock of larder_clock.monotonic, in
     * nanoseconds; INT64_MAX: never. For items the deadline is that of the run, not of the call for one item.
     * [any] since 1.0 */
    larder_status (*deadline)(const larder_host *host, int64_t *out);
} larder_cancel;

LARDER_END

#endif
