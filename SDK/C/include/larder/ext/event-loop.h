/* ext/event-loop.h: a plugin that polls a server for news, "larder.event-loop/1".
 *
 * An event loop remembers its position in the server's history as an event id. The host stores the event id and does
 * not interpret it. A turn of a loop is this sequence of calls:
 *
 *   poll            asks the server for changes since the event id, and hands out a page
 *   process         applies the page to the loop's records
 *   release_page
 *
 * Then the host commits the requests of `process` together with the page's event id: both or none, whatever happens. If
 * the page says that there is more, another turn follows, after the turns of the other loops.
 *
 * The records may be too old for events to bring them up to date: the loop has no event id yet, or the page says
 * `refresh`. Then the host calls, in place of process,
 *
 *   refresh         takes a new event id (the anchor) first, then fetches everything and asks for the differences
 *   release_page
 *
 * and commits the requests together with the anchor. The anchor comes first so that changes during the fetch are not
 * lost.
 *
 * The host learns from the records which loops there are. A plugin whose `collection` is "calendars" has one loop for
 * each record in that collection, and the record's key is the loop's id. The loop begins when the record is committed,
 * and ends when the record is removed; everything that the loop stored is removed with it. A plugin without a
 * collection has one loop, whose id is `kind`.
 *
 * A collection has one writer. The loop of the kind "core", which comes first in every cycle, writes "calendars",
 * "shares" and "account". A loop of the kind "calendar" or "share" writes its own record there, and the collection that
 * belongs to that record. Every plugin writes the collection with its plugin's id or, if its loops are there for
 * records, the collection below it with the loop's id: "org.example.x/12". Collections that plugins name have no slash,
 * so that every collection with a slash belongs to one record.
 *
 * Scenarios:
 *
 *  I.   A calendar. Poll: a REPORT for the changes since the sync-token, which is the event id. Process: put and remove
 *     the
 *       calendar's objects. Refresh: an empty sync-token gives the listing and a new token in one answer; fetch the
 *       objects that differ.
 *  II.  A server that can only list. Poll: list; the event id is a digest of the listing. Process: compare the listing
 *      with
 *       the records.
 *  III. Much to fetch. A turn may ask for at most 16 MiB. Hand out a page with `more` and an event id that tells you
 *       what is left to fetch: "fetch:<token>".
 *  IV.  Nothing to poll. Return LARDER_UNSUPPORTED from poll or refresh: the host asks the loop again a day later.
 *
 * Advice to plugins: a page with the same event id and without `more` changes nothing and costs nothing. Fail when the
 * server fails: an error is not absence, and a record stays until you know that its thing is gone. The host asks a
 * failing loop less often, after 1, 1, 2, 3, 5 and 8 times the interval. It keeps any wait that the server asks for by
 * itself.
 *
 * Advice to hosts: run one loop at a time. A call that you give up because it takes too long fails its own loop only.
 *
 * Example:
 *
 *     // A poll that finds nothing new: the same event id, which must last until release_page, and no content.
 *     static larder_status poll(void *context, const larder_loop *loop, larder_event_page *out) {
 *         char *copy = (char *)malloc((size_t)loop->event_id.len);
 *         (void)context;
 *         if (!copy) return LARDER_LIMIT;
 *         memcpy(copy, loop->event_id.ptr, (size_t)loop->event_id.len);
 *         out->event_id = larder_str_make(copy, loop->event_id.len);
 *         return LARDER_OK;
 *     }
 *
 *     static void release_page(void *context, larder_event_page *page) {
 *         (void)context;
 *         free((void *)page->event_id.ptr);
 *     }
 */
#ifndef LARDER_EXT_EVENT_LOOP_H
#define LARDER_EXT_EVENT_LOOP_H

#include "../base.h"

#define LARDER_EXT_EVENT_LOOP "larder.event-loop/1"

/* Asks for a refresh of everything. Smaller parts are bits of the loop's own, 0x01 to 0x80. */
#define LARDER_REFRESH_EVERYTHING 0xffu

/* The announcements that a server may make between two polls. The host polls a loop that declares a hint at once when
 * the hint comes. */
#define LARDER_HINT_ITEMS 0x01u   /* files and folders */
#define LARDER_HINT_SHARES 0x02u  /* shares */
#define LARDER_HINT_ACCOUNT 0x04u /* the account: spaces, memberships, notifications of any kind */

/* The reasons why a turn of a loop fails. */
#define LARDER_LOOP_MISSING_ID 1u   /* no event id: the loop never ran, or its cache was dropped; a refresh follows */
#define LARDER_LOOP_OUTDATED 2u     /* the page asked for a refresh, which follows */
#define LARDER_LOOP_POLL_FAILED 3u  /* poll or refresh failed */
#define LARDER_LOOP_PROCESSING 4u   /* process failed, or its requests were not committed */
#define LARDER_LOOP_TIMED_OUT 5u    /* the host gave the call up because it took too long */
#define LARDER_LOOP_NO_PROGRESS 6u  /* pages said that there is more, with the same event id */

LARDER_BEGIN

/* A loop in the current call. */
typedef struct larder_loop {
    uint32_t struct_size;
    uint32_t reserved;
    larder_str id;       /* the key of its record, "/ada/work/"; the kind, if the plugin has one loop */
    larder_str event_id; /* its position; absent: no position is known */
} larder_loop;

/* The result of a poll. The host passes it with struct_size set and zeros everywhere else. Everything that the plugin
 * makes it point to stays unchanged until release_page. */
typedef struct larder_event_page {
    uint32_t struct_size;
    /* The parts of the cache that are too old: 0, bits, or LARDER_REFRESH_EVERYTHING. If it is not 0, `event_id` and
     * `more` mean nothing. */
    uint32_t refresh;
    /* 1: there is more after this page. */
    uint32_t more;
    uint32_t reserved;
    /* The loop's position after this page. Not empty. */
    larder_str event_id;
    /* Belongs to the plugin; the host does not use it. */
    void *LARDER_NULLABLE content;
} larder_event_page;

/* The reason why a turn of a loop failed. */
typedef struct larder_loop_error {
    uint32_t struct_size;
    uint32_t code;        /* LARDER_LOOP_… */
    larder_status status; /* a status for the failure, as far as the host knows one */
    uint32_t reserved;
    /* A sentence for people, as in the log. */
    larder_str message;
} larder_loop_error;

/* The functions of a plugin with event loops. `context` is that of the instance. Arguments are borrowed for the
 * call. */
typedef struct larder_event_loop {
    uint32_t struct_size;
    /* The bits of a page's `refresh` for which the host calls `refresh` one by one. Together they are everything. A bit
     * that is not in this mask means everything. 0: the loop can only refresh everything. */
    uint32_t refresh_bits;
    /* The kind of the plugin's loops: letters and digits, or the plugin's id. It is unique among the plugins of a
     * host. */
    larder_str kind;
    /* The collection of which each record is a loop: "calendars". It has no slash. Absent: the plugin has one loop. */
    larder_str collection;
    /* The hints that concern the loops: a set of LARDER_HINT_…. */
    uint32_t hints;
    uint32_t reserved;

    /* Asks the server for changes since loop->event_id, which is present, and fills `*out`. `out` comes with
     * struct_size set and zeros everywhere else. May read records, but not change them. Returns LARDER_UNSUPPORTED if
     * there is nothing to poll.
     * [loop] since 1.0 */
    larder_status (*poll)(void *LARDER_NULLABLE context, const larder_loop *loop, larder_event_page *out);

    /* Applies a page of `poll` to the records. If it fails, the page comes again in a later turn.
     * [loop] since 1.0 */
    larder_status (*process)(void *LARDER_NULLABLE context, const larder_loop *loop, const larder_event_page *page);

    /* Takes a new anchor, then fetches what `what` says: one bit of refresh_bits, or LARDER_REFRESH_EVERYTHING. Fills
     * `*out` as `poll` does; its event_id is the anchor. If the host calls it for several bits, the anchor of the first
     * call counts. May set `more` with LARDER_REFRESH_EVERYTHING only. Returns LARDER_UNSUPPORTED as `poll` does.
     * [loop] since 1.0 */
    larder_status (*refresh)(void *LARDER_NULLABLE context, const larder_loop *loop, uint32_t what,
                             larder_event_page *out);

    /* Tells the loop why a turn failed, or that its cache cannot be used any more. May read records, but not change
     * them.
     * [loop] since 1.0 */
    void (*on_error)(void *LARDER_NULLABLE context, const larder_loop *loop, const larder_loop_error *error);

    /* Frees the memory that a page points to. Called once for each page that poll or refresh handed out with LARDER_OK,
     * at the latest before stop. It may call those functions of the host that are [any].
     * [loop] since 1.0 */
    void (*release_page)(void *LARDER_NULLABLE context, larder_event_page *page);
} larder_event_loop;

LARDER_END

#endif
