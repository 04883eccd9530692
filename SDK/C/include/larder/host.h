/* host.h: the host, as a plugin sees it.
 *
 * The host creates each instance with a larder_host of its own: one for each plugin and account. Through it the plugin
 * asks for services, each of which is a table of functions with a name and a revision, and says why a call failed.
 *
 * Advice to plugins: ask for all services in `start` and keep the pointers. Return LARDER_UNSUPPORTED from `start` if
 * you cannot work without a service that is missing. Name that service in the descriptor's `required` as well, so that
 * the operator learns of it before anything runs.
 *
 * Advice to hosts: hand out null for a service that the operator withholds, not a table of functions that refuse.
 *
 * Example:
 *
 *     static larder_status find_clock(const larder_host *host, const larder_clock **out) {
 *         *out = (const larder_clock *)host->extension(host, LARDER_STR(LARDER_EXT_CLOCK));
 *         if (*out) return LARDER_OK;
 *         host->fail(host, LARDER_UNSUPPORTED, LARDER_STR("the clock is withheld"));
 *         return LARDER_UNSUPPORTED;
 *     }
 */
#ifndef LARDER_HOST_H
#define LARDER_HOST_H

#include "base.h"

LARDER_BEGIN

typedef struct larder_host larder_host;

struct larder_host {
    uint32_t struct_size;
    /* LARDER_ABI_MINOR of the host. */
    uint32_t abi_minor;
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Returns the table of a service, or null if the host has no service of this exact name or the operator withholds
     * it. `name` is the service's name, for example "larder.log/1". Returns the same pointer each time. The table stays
     * unchanged until `destroy` returns.
     * [any] since 1.0 */
    const void *LARDER_NULLABLE (*LARDER_NONNULL extension)(const larder_host *host, larder_str name);

    /* Says why the current call is about to fail. `status` is the status that the call will return. `message` is a
     * sentence for people, such as "the archive at /srv/a is not mounted"; the host copies it. If a call says it
     * several times, the last one counts. If the call then succeeds, the host forgets it. May be called inside create
     * too.
     * [any] since 1.0 */
    void (*fail)(const larder_host *host, larder_status status, larder_str message);
};

LARDER_END

#endif
