/* ext/dav.h: PROPFIND and REPORT requests, "larder.dav/1".
 *
 * These requests are like those of larder.http/1, but the host parses the answer. The plugin gets a stream of
 * responses, each with the properties that it asked for, while the body is still arriving.
 *
 * Element names are in Clark notation: "{DAV:}getetag". The text of a property is its character data. If a property
 * contains elements, its text has one line for each element that contains no other: the element's name and, if there is
 * one, a space and the element's text or, without text, the value of its attribute `name`:
 *
 *   {DAV:}collection
 *   {urn:ietf:params:xml:ns:caldav}calendar
 *
 *   {DAV:}href /cal/ada/
 *
 *   {urn:ietf:params:xml:ns:caldav}comp VEVENT
 *
 * XML makes a line feed of a CRLF (XML 1.0, section 2.11), unless the server wrote it as a character reference. So the
 * lines of calendar objects and vCards, which end with CRLF, may end with a line feed in a text.
 *
 * Example:
 *
 *     static larder_status count_members(const larder_host *host, const larder_dav *dav, uint64_t *out) {
 *         static const larder_str properties[] = {{"{DAV:}getetag", 13}};
 *         larder_dav_request request;
 *         larder_dav_answer *answer = NULL;
 *         const larder_dav_response *response = NULL;
 *         larder_status status;
 *         memset(&request, 0, sizeof request);
 *         request.struct_size = sizeof request;
 *         request.depth = 1;
 *         request.method = LARDER_STR("PROPFIND");
 *         request.target = LARDER_STR("/cal/ada/");
 *         request.properties = properties;
 *         request.property_count = 1;
 *         status = dav->open(host, &request, &answer);
 *         if (status != LARDER_OK) return status;
 *         *out = 0;
 *         while ((status = answer->next(answer, &response)) == LARDER_OK && response) ++*out;
 *         dav->close(host, answer);
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_DAV_H
#define LARDER_EXT_DAV_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_DAV "larder.dav/1"

LARDER_BEGIN

/* Sends the request ahead: `open` returns at once, and the answer arrives while the plugin reads another one. The first
 * `next` waits for the answer, and returns the status that `open` would have returned. Until then the answer's status
 * is 0. If the operator allows one connection to the server only (`limits.connections`), the host sends the request in
 * that first `next`. Before that `next`, read the answers that you opened earlier to their end, or close them: the
 * server may not take two requests at a time. */
#define LARDER_DAV_AHEAD 0x01u

/* A request. */
typedef struct larder_dav_request {
    uint32_t struct_size;
    uint32_t depth;    /* 0 or 1 */
    larder_str method; /* "PROPFIND" or "REPORT" */
    larder_str target; /* as in larder_http_request */
    /* The request's XML. Absent for a PROPFIND, which asks for `properties`. */
    larder_str body;
    /* The names of the properties to hand out, in Clark notation. Null if there are none. */
    const larder_str *LARDER_NULLABLE properties;
    uint64_t property_count; /* at most 64 */
    uint32_t flags;          /* LARDER_DAV_AHEAD, or 0 */
    uint32_t reserved;
} larder_dav_request;

/* One response of a multistatus. */
typedef struct larder_dav_response {
    uint32_t struct_size;
    /* The status of the whole response; 200 if the response has properties. */
    uint32_t status;
    /* A path from the origin's root. It is always percent-encoded in the same way: "/cal/ada/1.ics". */
    larder_str href;
    /* The texts of the properties, in the order of the request. A text is absent if the server has no such property. */
    const larder_str *LARDER_NULLABLE values;
    uint64_t value_count;
    /* The element names inside the response's DAV:error, separated by spaces. Absent: there is no error. */
    larder_str error;
} larder_dav_response;

/* The facts that are known after the last response. */
typedef struct larder_dav_end {
    uint32_t struct_size;
    /* 1: the server left responses out (507 for the address itself, RFC 6578, section 3.6). */
    uint32_t truncated;
    larder_str sync_token; /* absent: the answer has none */
    /* The element names inside the answer's DAV:error, separated by spaces. Absent: there is no error. */
    larder_str error;
} larder_dav_end;

/* An answer. */
typedef struct larder_dav_answer larder_dav_answer;

struct larder_dav_answer {
    uint32_t struct_size;
    /* The status code. It is 207 if there are responses; with any other status there are none. 0: the request was sent
     * ahead, and `next` was not called yet, or the request failed. */
    uint32_t status;
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Sets `*out` to the next response, or to null past the last response. Called again past the last response, it sets
     * null again. The response is borrowed until the next `next` or `close`. Returns LARDER_IO (the answer ended too
     * soon, or is no multistatus) or LARDER_CANCELLED; the responses so far are then incomplete.
     * [loop] since 1.0 */
    larder_status (*next)(larder_dav_answer *answer, const larder_dav_response *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Fills `*out` with the facts that are known at the end, after `next` set null. Set out->struct_size before. The
     * texts are borrowed until the answer is closed. Returns LARDER_WRONG_STATE before the end.
     * [loop] since 1.0 */
    larder_status (*end)(larder_dav_answer *answer, larder_dav_end *out);
};

/* The WebDAV service. */
typedef struct larder_dav {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sends a request, and sets `*out` to the answer. Waits, limits and statuses are those of `open` of larder_http
     * does; also returns LARDER_LIMIT for more than 64 properties, and LARDER_INVALID_ARGUMENT for another depth or a
     * name that is not in Clark notation. With LARDER_DAV_AHEAD it does not wait, and returns only the statuses that
     * are about the request itself.
     * [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_dav_request *request,
                          larder_dav_answer *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes an answer, and frees it. The host does not fetch the unread rest.
     * [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_dav_answer *answer);
} larder_dav;

LARDER_END

#endif
