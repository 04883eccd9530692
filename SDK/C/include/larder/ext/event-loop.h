/* ext/event-loop.h: a plugin that asks a server what is new, "larder.event-loop/1".
 *
 * A loop knows how far it has come: its event id, which the host keeps and does not look into. A turn of a loop is
 *
 *   poll            what is new since the event id? A page is the answer
 *   process         what the page says, done to the loop's records
 *   release_page
 *
 * and then the host commits what process asked for together with the page's event id: both or none, whatever happens.
 * If the page says that there is more, another turn follows, behind those of the other loops.
 *
 * What was cached may be too old to be brought up to date by events: the loop has no event id yet, or the page says
 * `refresh`. Then, in place of process,
 *
 *   refresh         take a new anchor first, then fetch everything; what differs is asked for
 *   release_page
 *
 * and the anchor is committed with it. It is taken first, since what happens while everything is fetched would be
 * lost otherwise.
 *
 * Which loops there are, the host reads from the records. A plugin whose `collection` is "calendars" has a loop for
 * each record in it, with the record's key as the loop's id; the loop begins when the record is committed and ends when
 * it is removed, and all that it cached goes with it. A plugin without a collection has one loop, whose id is `kind`.
 * A collection has one writer. The loop of the kind "core", which comes first in every cycle, writes "calendars", "shares"
 * and "account"; a loop of the kind "calendar" or "share" its own record there, and what belongs to it; every plugin the
 * collection with its id, or, if its loops are there for records, the one below it with the loop's id: "org.example.x/12".
 * Collections that plugins name have no slash in them, so that every other one belongs to one record.
 *
 * Scenarios:
 *
 *  I.   A calendar. Poll: a REPORT for what changed since the sync-token, which is the event id. Process: put and remove
 *       its objects. Refresh: an empty sync-token gives the listing and a new token in one answer; fetch what differs.
 *  II.  A server that can only list. Poll: list; the event id is a digest of the listing. Process: compare with the records.
 *  III. Much to fetch. A turn asks for at most 16 MiB. Hand out a page with `more` and an event id of which you know what
 *       is left: "fetch:<token>".
 *  IV.  Nothing there. Return LARDER_UNSUPPORTED from poll or refresh: the loop is asked again a day later.
 *
 * Advice to plugins: a page with the same event id and no more changes nothing and costs nothing. Fail when the server
 * fails: an error is not absence, and what you do not know to be gone stays. A loop that fails is asked less often, at
 * 1, 1, 2, 3, 5, 8 times the interval; whatever wait the server asks for is kept without your doing.
 *
 * Advice to hosts: one loop at a time. A call that is given up for its length fails its loop alone.
 */
#ifndef LARDER_EXT_EVENT_LOOP_H
#define LARDER_EXT_EVENT_LOOP_H

#include "../base.h"

#define LARDER_EXT_EVENT_LOOP "larder.event-loop/1"

/* What a page wants to be fetched anew: bits of the loop's own, 0x01 to 0x80, or all of it. */
#define LARDER_REFRESH_EVERYTHING 0xffu

/* What a server may announce between two polls; a loop that declares it is then asked at once. */
#define LARDER_HINT_ITEMS 0x01u   /* files and folders */
#define LARDER_HINT_SHARES 0x02u  /* shares */
#define LARDER_HINT_ACCOUNT 0x04u /* the account: spaces, memberships, notifications of any kind */

/* Why a turn of a loop failed. */
#define LARDER_LOOP_MISSING_ID 1u   /* it has no event id: it never ran, or its cache was dropped; refresh follows */
#define LARDER_LOOP_OUTDATED 2u     /* the page asked for a refresh, which follows */
#define LARDER_LOOP_POLL_FAILED 3u  /* poll or refresh did not succeed */
#define LARDER_LOOP_PROCESSING 4u   /* process did not succeed, or its effects were not committed */
#define LARDER_LOOP_TIMED_OUT 5u    /* the call was given up for its length */
#define LARDER_LOOP_NO_PROGRESS 6u  /* pages said that there is more, with the same event id */

LARDER_BEGIN

/* A loop, as the call under way has it. */
typedef struct larder_loop {
    uint32_t struct_size;
    uint32_t reserved;
    larder_str id;       /* "/ada/work/"; of a loop that is there once, its kind */
    larder_str event_id; /* how far it has come; absent: nothing is known */
} larder_loop;

/* What a poll came to. The host hands it over with its struct_size set and zeros else; all that the plugin makes it point to stays as
 * it is until release_page. */
typedef struct larder_event_page {
    uint32_t struct_size;
    /* 0, bits, or LARDER_REFRESH_EVERYTHING: what is cached is too old. `event_id` and `more` then mean nothing. */
    uint32_t refresh;
    /* 1: there is more after this page. */
    uint32_t more;
    uint32_t reserved;
    /* How far the loop has come with this page. Not empty. */
    larder_str event_id;
    /* The plugin's own. */
    void *LARDER_NULLABLE content;
} larder_event_page;

typedef struct larder_loop_error {
    uint32_t struct_size;
    uint32_t code; /* LARDER_LOOP_… */
    larder_status status;
    uint32_t reserved;
    /* For people, as the log has it. */
    larder_str message;
} larder_loop_error;

typedef struct larder_event_loop {
    uint32_t struct_size;
    /* The bits of a page's `refresh` for which `refresh` is called one by one. Together they are everything. A bit that is not in it
     * means everything. 0: there is only everything. */
    uint32_t refresh_bits;
    /* Of its loops; unique among the plugins of a host. Letters and digits, or the plugin's id. */
    larder_str kind;
    /* Whose records each mean a loop: "calendars"; absent: it has one loop. Without a slash. */
    larder_str collection;
    /* LARDER_HINT_… */
    uint32_t hints;
    uint32_t reserved;

    /* Asks what is new since loop->event_id, which is there. `out` comes with its struct_size set and zero else. May read records and
     * not change them. Returns LARDER_UNSUPPORTED: there is nothing to poll here.
     * [loop] since 1.0 */
    larder_status (*poll)(void *LARDER_NULLABLE context, const larder_loop *loop, larder_event_page *out);

    /* Does what a page says to the records. A page of which this fails comes again.
     * [loop] since 1.0 */
    larder_status (*process)(void *LARDER_NULLABLE context, const larder_loop *loop, const larder_event_page *page);

    /* Takes a new anchor, then fetches what `what` says: one of refresh_bits, or LARDER_REFRESH_EVERYTHING. Fills `out` as poll does; its
     * event_id is the anchor. Of several bits the first one's anchor counts. `more` may be said with LARDER_REFRESH_EVERYTHING
     * alone. Returns LARDER_UNSUPPORTED as poll does.
     * [loop] since 1.0 */
    larder_status (*refresh)(void *LARDER_NULLABLE context, const larder_loop *loop, uint32_t what,
                             larder_event_page *out);

    /* Says why a turn failed, or that what is cached cannot be used any more. May read records and not change them.
     * [loop] since 1.0 */
    void (*on_error)(void *LARDER_NULLABLE context, const larder_loop *loop, const larder_loop_error *error);

    /* Frees what a page points to. Called once for each page that poll or refresh handed out with LARDER_OK, at the latest before
     * stop. Of the host's functions it may call those that are [any].
     * [loop] since 1.0 */
    void (*release_page)(void *LARDER_NULLABLE context, larder_event_page *page);
} larder_event_loop;

LARDER_END

#endif
