/* host.h: what a plugin gets to hold.
 *
 * An instance is created with a host of its own: one for each plugin and account. Through it the plugin asks for
 * services, each a table of functions with a name and a revision, and says why a call failed.
 *
 * Advice to plugins: ask for all services in `start`, keep the pointers, and return LARDER_UNSUPPORTED from `start` if
 * one that you cannot work without is missing. Name it in the descriptor's `required` as well: then the operator
 * learns it before anything runs.
 *
 * Advice to hosts: a service that the operator withholds is null, not a table of refusals.
 */
#ifndef LARDER_HOST_H
#define LARDER_HOST_H

#include "base.h"

LARDER_BEGIN

typedef struct larder_host larder_host;

struct larder_host {
    uint32_t struct_size;
    /* Of the host. */
    uint32_t abi_minor;
    /* The host's own; a plugin leaves it alone. */
    void *LARDER_NULLABLE context;

    /* Hands out a service's table, for example that of "larder.log/1"; null if the host has none of this exact name or
     * the operator withholds it. The table stays as it is until `destroy` returns. Asked again, it hands out the same.
     * [any] since 1.0 */
    const void *LARDER_NULLABLE (*LARDER_NONNULL extension)(const larder_host *host, larder_str name);

    /* Says why the call under way is about to fail, for people: "the archive at /srv/a is not mounted". The text is
     * copied. Said again in the same call, the last one counts. Without a failure it is forgotten. May be called
     * inside create too.
     * [any] since 1.0 */
    void (*fail)(const larder_host *host, larder_status status, larder_str message);
};

LARDER_END

#endif
