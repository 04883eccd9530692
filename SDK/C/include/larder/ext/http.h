/* ext/http.h: requests to the account's server, "larder.http/1".
 *
 * The host makes the request: at the account's origin alone, with the account's credentials, within its limits on
 * connections and time. The plugin sees neither name nor password: an answer that repeats them ends with LARDER_IO before it does.
 * Methods are COPY, DELETE, GET, HEAD, MKCALENDAR, MKCOL, MOVE, OPTIONS, PATCH, POST, PROPFIND, PROPPATCH, PUT, REPORT and SEARCH;
 * any other is refused with LARDER_DENIED. The call blocks the plugin's thread and nothing else, and
 * ends with LARDER_CANCELLED when the host asks for an end.
 *
 * Three answers the host deals with itself, and LARDER_IO is all that the plugin sees of them: a 401 below the
 * account's files, or on a server of the ownCloud family that refuses these too, after which the host asks nothing more until it
 * tries the account again (a 401 elsewhere may be somebody else's door, and is handed out); 429 and 503, whose wait the host keeps
 * for the whole account. A loop's call that fails after a 401 or 403 that was handed out is refused: it is called again after
 * 30 s, and the longer each time, up to 15 min; after a 401 all loops of its kind wait with it.
 */
#ifndef LARDER_EXT_HTTP_H
#define LARDER_EXT_HTTP_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_HTTP "larder.http/1"

LARDER_BEGIN

typedef struct larder_http_header {
    larder_str name;
    larder_str value;
} larder_http_header;

typedef struct larder_http_request {
    uint32_t struct_size;
    /* In bytes, from one header to the next. */
    uint32_t header_stride;
    larder_str method; /* "GET" */
    /* A path with or without a query, percent-encoded, from the origin's root: "/ocs/v2.php/cloud/user?format=json". A whole address
     * is fine if it is at the account's origin. */
    larder_str target;
    /* May be null. Authorization, Host, Content-Length and those of the connection are the host's, and refused. */
    const larder_http_header *LARDER_NULLABLE headers;
    uint64_t header_count;
    larder_bytes body; /* may be absent */
} larder_http_request;

/* An answer whose body has yet to be read. */
typedef struct larder_http_answer larder_http_answer;

struct larder_http_answer {
    uint32_t struct_size;
    uint32_t status; /* 200 */
    /* The host's own. */
    void *LARDER_NULLABLE context;

    /* Hands out a header's value, the first one's if there are several; the name's case does not matter. Borrowed until the answer is
     * closed. Returns LARDER_NOT_FOUND.
     * [loop] since 1.0 */
    larder_status (*header)(larder_http_answer *answer, larder_str name, larder_str *out);

    /* Hands out the next bytes of the body as they come, of any number; null past the end. Borrowed until the next `read` or
     * `close`. Returns LARDER_IO (the body ended too soon), LARDER_CANCELLED.
     * [loop] since 1.0 */
    larder_status (*read)(larder_http_answer *answer, larder_bytes *out);
};

typedef struct larder_http {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sends a request and hands out the answer when its head is there. Redirects are followed within the origin. The plugin closes
     * it; the host closes what is left open when the call under way returns. 4 at most at a time. Returns LARDER_IO (no
     * answer; the log says why), LARDER_DENIED (another origin, a header that is the host's
     * or cannot be sent as it is), LARDER_LIMIT,
     * LARDER_CANCELLED.
     * [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_http_request *request,
                          larder_http_answer *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes an answer; what is unread of it is not fetched.
     * [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_http_answer *answer);
} larder_http;

LARDER_END

#endif
