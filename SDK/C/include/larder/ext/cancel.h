/* ext/cancel.h: whether the call under way should end, "larder.cancel/1".
 *
 * The host asks for an end when it is about to stop, or when the plugin is disabled. A plugin that loops for long
 * looks now and then, and returns LARDER_CANCELLED: what it asked for in this call is then forgotten, so nothing is
 * half done.
 */
#ifndef LARDER_EXT_CANCEL_H
#define LARDER_EXT_CANCEL_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_CANCEL "larder.cancel/1"

LARDER_BEGIN

typedef struct larder_cancel {
    uint32_t struct_size;
    uint32_t reserved;

    /* LARDER_OK to go on, LARDER_CANCELLED to end. Cheap enough for an inner loop. Once cancelled, a call stays so.
     * [any] since 1.0 */
    larder_status (*check)(const larder_host *host);

    /* When the host gives the call up, on the clock of larder_clock.monotonic; INT64_MAX: never. It is set for a run
     * of items, not for each one.
     * [any] since 1.0 */
    larder_status (*deadline)(const larder_host *host, int64_t *out);
} larder_cancel;

LARDER_END

#endif
