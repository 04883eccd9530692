/* ext/http.h: requests to the account's server, "larder.http/1".
 *
 * The host sends the request: only to the account's origin, with the account's credentials, within the host's limits on
 * connections and time. The plugin sees neither the name nor the password: if an answer repeats them, reading it ends
 * with LARDER_IO before that place. The methods are COPY, DELETE, GET, HEAD, MKCALENDAR, MKCOL, MOVE, OPTIONS, PATCH,
 * POST, PROPFIND, PROPPATCH, PUT, REPORT and SEARCH; the host refuses any other method with LARDER_DENIED. A call
 * blocks the plugin's thread and nothing else. It returns LARDER_CANCELLED when the host asks for an end.
 *
 * The host handles three answers itself, and the plugin only sees LARDER_IO. The first is a 401 for an address below
 * the account's files, or for any address if the server is of the ownCloud family and also refuses the files; the host
 * then sends no request until it tries the account again. (A 401 for another address may come from another service, so
 * the host hands it out.) The other two are 429 and 503; the host keeps the wait that they ask for, for the whole
 * account.
 *
 * If a loop's call fails after the host handed out a 401 or 403, the loop counts as refused: the host calls it again
 * after 30 s, and after a longer wait each time, up to 15 min. After a 401 all loops of the same kind wait with it.
 *
 * Example:
 *
 *     static larder_status has_news(const larder_host *host, const larder_http *http, int *out) {
 *         larder_http_request request;
 *         larder_http_answer *answer = NULL;
 *         larder_status status;
 *         memset(&request, 0, sizeof request);
 *         request.struct_size = sizeof request;
 *         request.header_stride = sizeof(larder_http_header);
 *         request.method = LARDER_STR("GET");
 *         request.target = LARDER_STR("/apps/news/newest");
 *         status = http->open(host, &request, &answer);
 *         if (status != LARDER_OK) return status;
 *         *out = answer->status == 200;
 *         return http->close(host, answer);
 *     }
 */
#ifndef LARDER_EXT_HTTP_H
#define LARDER_EXT_HTTP_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_HTTP "larder.http/1"

LARDER_BEGIN

/* A header of a request. */
typedef struct larder_http_header {
    larder_str name;
    larder_str value;
} larder_http_header;

/* A request. */
typedef struct larder_http_request {
    uint32_t struct_size;
    /* The distance from one header to the next, in bytes. */
    uint32_t header_stride;
    larder_str method; /* "GET" */
    /* A percent-encoded path from the origin's root, with or without a query: "/ocs/v2.php/cloud/user?format=json". A
     * whole address is allowed if it is at the account's origin. */
    larder_str target;
    /* The headers, at most 64; null: none. The host sets Authorization, Host, Content-Length and the headers of the
     * connection itself, and refuses them here. */
    const larder_http_header *LARDER_NULLABLE headers;
    uint64_t header_count;
    larder_bytes body; /* may be absent */
} larder_http_request;

/* An answer. Its body is read piece by piece. */
typedef struct larder_http_answer larder_http_answer;

struct larder_http_answer {
    uint32_t struct_size;
    uint32_t status; /* the status code: 200 */
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Sets `*out` to the value of the header with this name, in any case; if there are several, to that of the first
     * one. The value is borrowed until the answer is closed. Returns LARDER_NOT_FOUND (no such header).
     * [loop] since 1.0 */
    larder_status (*header)(larder_http_answer *answer, larder_str name, larder_str *out);

    /* Sets `*out` to the next bytes of the body as they arrive, any number of them, and to absent bytes past the end.
     * They are borrowed until the next `read` or `close`. Returns LARDER_IO (the body ended too soon) or
     * LARDER_CANCELLED.
     * [loop] since 1.0 */
    larder_status (*read)(larder_http_answer *answer, larder_bytes *out);
};

/* The HTTP service. */
typedef struct larder_http {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sends a request, waits for the head of the answer, and sets `*out` to the answer. The host follows redirects
     * within the origin. At most 4 answers may be open at a time. The plugin closes the answer; the host closes answers
     * that are still open when the current call returns. An answer with an error status is handed out like any other.
     * Returns LARDER_IO (no answer; the log says why), LARDER_DENIED (another origin, a method that the host does not
     * send, or a header that is the host's or cannot be sent as it is), LARDER_LIMIT (4 answers are open, or more than
     * 64 headers) or LARDER_CANCELLED.
     * [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_http_request *request,
                          larder_http_answer *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes an answer, and frees it. The host does not fetch the unread rest of the body.
     * [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_http_answer *answer);
} larder_http;

LARDER_END

#endif
