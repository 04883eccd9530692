/* ext/discover.h: where a server keeps what is the account's, "larder.discover/1" (RFC 6764, RFC 5397, RFC 4791). */
#ifndef LARDER_EXT_DISCOVER_H
#define LARDER_EXT_DISCOVER_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_DISCOVER "larder.discover/1"

LARDER_BEGIN

typedef struct larder_discovery {
    uint32_t struct_size;
    uint32_t reserved;
    /* Paths from the origin's root, percent-encoded: "/principals/ada/". Absent for "files". */
    larder_str principal;
    /* The homes: "/cal/ada/". One or more. */
    const larder_str *LARDER_NULLABLE homes;
    uint64_t home_count;
} larder_discovery;

typedef struct larder_discover {
    uint32_t struct_size;
    uint32_t reserved;

    /* Finds the homes of a service. "caldav": asks the server each time. "files": where the account's files are; an item's path, encoded,
     * is below it; known without asking. Set out->struct_size before; borrowed until the call under way
     * returns. Returns LARDER_UNSUPPORTED (the server does not offer it), LARDER_NOT_FOUND (none were found, and a place that might
     * have told cannot now: ask again later), LARDER_IO, LARDER_CANCELLED, LARDER_INVALID_ARGUMENT (no such service).
     * [loop] since 1.0 */
    larder_status (*find)(const larder_host *host, larder_str service, larder_discovery *out);
} larder_discover;

LARDER_END

#endif
