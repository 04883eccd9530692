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

    /* The time of day, in nanoseconds since 1970 UTC, as far as the host believes the system's clock: compare ages with
     * this. It may jump.
     * [any] since 1.0 */
    larder_status (*now)(const larder_host *host, int64_t *out);

    /* Nanoseconds since some moment of this run of the host: of two runs they tell nothing. It never goes back, and goes on
     * while the machine sleeps: measure waits and time limits with this, and expect them to be over after a sleep.
     * [any] since 1.0 */
    larder_status (*monotonic)(const larder_host *host, int64_t *out);
} larder_clock;

LARDER_END

#endif
