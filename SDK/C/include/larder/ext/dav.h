/* ext/dav.h: PROPFIND and REPORT, "larder.dav/1".
 *
 * As larder.http/1, and the host reads the answer: it comes as a stream of responses, each with the properties that were
 * asked for, while the body is still on its way.
 *
 * Names of elements are in Clark notation: "{DAV:}getetag". The text of a property is its character data. A property
 * with elements inside has a line for each that has none inside itself: its name, then, if there is any, a space and its text or, without
 * text, the value of its attribute `name`:
 *
 *     {DAV:}collection
 *     {urn:ietf:params:xml:ns:caldav}calendar
 *
 *     {DAV:}href /cal/ada/
 *
 *     {urn:ietf:params:xml:ns:caldav}comp VEVENT
 */
#ifndef LARDER_EXT_DAV_H
#define LARDER_EXT_DAV_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_DAV "larder.dav/1"

LARDER_BEGIN

/* Sends the request ahead: `open` returns at once, so that it is on its way while another answer is read. The first `next` waits for
 * the answer, and returns what `open` would have returned; the answer's status is 0 before. With one connection to the server (the
 * operator's `limits.connections`) the request is sent then. Read what was opened before to its end, or close it, first: there may be no
 * room for two at the server. */
#define LARDER_DAV_AHEAD 0x01u

typedef struct larder_dav_request {
    uint32_t struct_size;
    uint32_t depth;    /* 0 or 1 */
    larder_str method; /* "PROPFIND" or "REPORT" */
    larder_str target; /* as larder_http_request has it */
    /* The request's XML. Absent for a PROPFIND: it asks for the properties. */
    larder_str body;
    /* The properties to hand out, in Clark notation. */
    const larder_str *LARDER_NULLABLE properties;
    uint64_t property_count; /* at most 64 */
    uint32_t flags;          /* LARDER_DAV_AHEAD, or 0 */
    uint32_t reserved;
} larder_dav_request;

typedef struct larder_dav_response {
    uint32_t struct_size;
    /* Of the whole response; 200 if it has properties. */
    uint32_t status;
    /* A path from the origin's root, percent-encoded in one way: "/cal/ada/1.ics". */
    larder_str href;
    /* The properties' texts, in the order of the request; absent where the server has none. */
    const larder_str *LARDER_NULLABLE values;
    uint64_t value_count;
    /* The names inside its DAV:error, separated by spaces; absent: there is none. */
    larder_str error;
} larder_dav_response;

/* What is known when all responses are there. */
typedef struct larder_dav_end {
    uint32_t struct_size;
    /* 1: the server left some out (507 for the address itself, RFC 6578, section 3.6). */
    uint32_t truncated;
    larder_str sync_token; /* absent: the answer has none */
    /* The names inside the answer's DAV:error, separated by spaces; absent: there is none. */
    larder_str error;
} larder_dav_end;

typedef struct larder_dav_answer larder_dav_answer;

struct larder_dav_answer {
    uint32_t struct_size;
    uint32_t status; /* 207; with any other there are no responses. 0: sent ahead, and `next` was not called yet */
    /* The host's own. */
    void *LARDER_NULLABLE context;

    /* Hands out the next response, or null past the last, and then null each time. Borrowed until the next `next` or `close`. Returns
     * LARDER_IO (the answer ended too soon, or is no multistatus), LARDER_CANCELLED: then what came is not all.
     * [loop] since 1.0 */
    larder_status (*next)(larder_dav_answer *answer, const larder_dav_response *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Fills in what is known at the end, after `next` handed out null. Set out->struct_size before; borrowed until the answer is closed.
     * Returns LARDER_WRONG_STATE before the end.
     * [loop] since 1.0 */
    larder_status (*end)(larder_dav_answer *answer, larder_dav_end *out);
};

typedef struct larder_dav {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sends a request, as larder_http.open does.
     * [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_dav_request *request,
                          larder_dav_answer *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes an answer; what is unread of it is not fetched.
     * [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_dav_answer *answer);
} larder_dav;

LARDER_END

#endif
