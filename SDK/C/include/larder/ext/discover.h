/* ext/discover.h: the addresses of the account's calendars, address books and files, "larder.discover/1" (RFC 6764, RFC
 * 5397, RFC 4791, RFC 6352).
 *
 * Example:
 *
 *     static larder_status find_calendars(const larder_host *host, const larder_discover *discover, larder_str *out) {
 *         larder_discovery found;
 *         larder_status status;
 *         found.struct_size = sizeof found;
 *         status = discover->find(host, LARDER_STR("caldav"), &found);
 *         if (status == LARDER_OK) *out = found.homes[0];
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_DISCOVER_H
#define LARDER_EXT_DISCOVER_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_DISCOVER "larder.discover/1"

LARDER_BEGIN

/* The addresses that were found. */
typedef struct larder_discovery {
    uint32_t struct_size;
    uint32_t reserved;
    /* The account's principal, a percent-encoded path from the origin's root: "/principals/ada/". Absent for
     * "files". */
    larder_str principal;
    /* The homes, one or more percent-encoded paths from the origin's root: "/cal/ada/". */
    const larder_str *LARDER_NULLABLE homes;
    uint64_t home_count;
} larder_discovery;

/* The discovery service. */
typedef struct larder_discover {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the homes of a service. Set out->struct_size before. Everything that `*out` points to is
     * borrowed until the current call returns. `service` is "caldav", "files" or, since 1.5, "carddav", which a host
     * before that refuses with LARDER_INVALID_ARGUMENT. For "caldav" and "carddav" the host asks the server, and keeps
     * the answer for at most a day, and no longer than a home is there. For "files" it knows the answer: the home below
     * which the percent-encoded paths of all items are.
     * Returns LARDER_UNSUPPORTED (the server does not offer the service), LARDER_NOT_FOUND (the host found no home, and
     * a place that might know one cannot be asked now: ask again later), LARDER_IO, LARDER_CANCELLED or
     * LARDER_INVALID_ARGUMENT (no such service).
     * [loop] since 1.0 */
    larder_status (*find)(const larder_host *host, larder_str service, larder_discovery *out);
} larder_discover;

LARDER_END

#endif
