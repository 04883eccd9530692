/* ext/clock.h: the time, "larder.clock/1".
 *
 * Advice to plugins: use only this clock, so that your tests can set it. A call has a cost: ask once in a run.
 *
 * Example:
 *
 *     static larder_status week_ago(const larder_host *host, const larder_clock *clock, int64_t *out) {
 *         int64_t now;
 *         larder_status status = clock->now(host, &now);
 *         if (status == LARDER_OK) *out = now - INT64_C(604800000000000);
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_CLOCK_H
#define LARDER_EXT_CLOCK_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_CLOCK "larder.clock/1"

LARDER_BEGIN

/* The clock service. */
typedef struct larder_clock {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to the time of day in nanoseconds since 1970 UTC, as far as the host trusts the system's clock. It
     * may jump. Compute ages with this clock.
     * [any] since 1.0 */
    larder_status (*now)(const larder_host *host, int64_t *out);

    /* Sets `*out` to the nanoseconds since an unspecified moment of this run of the host: values of two runs cannot be
     * compared. The clock never goes back, and it goes on while the machine sleeps. Measure waits and time limits with
     * this clock, and expect them to be over after a sleep.
     * [any] since 1.0 */
    larder_status (*monotonic)(const larder_host *host, int64_t *out);
} larder_clock;

LARDER_END

#endif
