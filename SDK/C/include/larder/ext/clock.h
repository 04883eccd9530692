/* ext/clock.h: the time, "larder.clock/1".
 *
 * Advice to plugins: ask this clock and no other, so that your tests can set it. It is not free: ask once a run.
 */
#ifndef LARDER_EXT_CLOCK_H
#define LARDER_EXT_CLOCK_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_CLOCK "larder.clock/1"

LARDER_BEGIN

typedef struct larder_clock {
    uint32_t struct_size;
    uint32_t reserved;

    /* The time of day, in nanoseconds since 1970 UTC. It may jump.
     * [any] since 1.0 */
    larder_status (*now)(const larder_host *host, int64_t *out);

    /* Nanoseconds since some moment before the host started. It never goes back, and stands still while the machine
     * sleeps.
     * [any] since 1.0 */
    larder_status (*monotonic)(const larder_host *host, int64_t *out);
} larder_clock;

LARDER_END

#endif
