/* ext/records.h: what loops cached, "larder.records/1".
 *
 * A record has a key in its collection, a version, a value that programs read, and perhaps a content: the thing itself. What
 * belongs to one record lies in a collection of its own, named after both: the objects of the calendar "/ada/work/" in
 * "calendars" lie in "calendars//ada/work/". It goes when that record goes.
 *
 * Changes are taken note of in process and refresh, and made when the turn is committed, with the event id. Reads see what the same turn asked
 * for before; cursors, what was there when the turn began. Collections that programs know: "calendars" (value: name, href,
 * components), what belongs to a calendar (value: uid, component, summary, start, end, rrule; content: iCalendar), which the
 * host also writes as files; "shares"; "account".
 */
#ifndef LARDER_EXT_RECORDS_H
#define LARDER_EXT_RECORDS_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_RECORDS "larder.records/1"

/* Which parts of a record are to be read; its key always is. */
#define LARDER_RECORD_VERSION 0x01u
#define LARDER_RECORD_VALUE 0x02u
#define LARDER_RECORD_CONTENT 0x04u

LARDER_BEGIN

typedef struct larder_record {
    uint32_t struct_size;
    uint32_t reserved;
    larder_str key;       /* a path, an id; not empty, at most 4 KiB */
    larder_str version;   /* the server's, such as an ETag; may be empty */
    larder_str value;     /* a JSON object; empty: nothing yet. At most 1 MiB */
    larder_bytes content; /* absent: there is none, or it was not asked for */
} larder_record;

/* A stream of records in the order of their keys' bytes. */
typedef struct larder_record_cursor larder_record_cursor;

struct larder_record_cursor {
    uint32_t struct_size;
    uint32_t reserved;
    /* The host's own. */
    void *LARDER_NULLABLE context;

    /* Hands out the next record, or null past the last, and then null each time. It is borrowed until the next `next` or `close`
     * of this cursor. Returns LARDER_CANCELLED or LARDER_IO; the cursor is then at its end.
     * [loop] since 1.0 */
    larder_status (*next)(larder_record_cursor *cursor, const larder_record *LARDER_NULLABLE *LARDER_NONNULL out);
};

typedef struct larder_records {
    uint32_t struct_size;
    uint32_t reserved;

    /* Reads a record's parts, LARDER_RECORD_…. Set out->struct_size before; what it points to is borrowed until the call under way
     * returns. Returns LARDER_NOT_FOUND, LARDER_IO.
     * [loop] since 1.0 */
    larder_status (*get)(const larder_host *host, larder_str collection, larder_str key, uint32_t parts,
                         larder_record *out);

    /* Opens a cursor over a collection's records, those with a greater key than `after` if it is there. A collection without
     * records has none. The plugin closes it; the host closes what is left open when the call under way returns. 16 at most at
     * a time. Returns LARDER_LIMIT, LARDER_IO.
     * [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, larder_str collection, larder_str after, uint32_t parts,
                          larder_record_cursor *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes a cursor that `open` handed out; it is gone then.
     * [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_record_cursor *cursor);

    /* Asks that a record is as given, in place of any with its key. All of it is copied. Not in poll or on_error. Returns LARDER_DENIED (not
     * this loop's collection), LARDER_LIMIT (above 16 MiB for the turn, or as larder_record says),
     * LARDER_INVALID_ARGUMENT (an empty key, a value that is no JSON object).
     * [loop] since 1.0 */
    larder_status (*put)(const larder_host *host, larder_str collection, const larder_record *record);

    /* Asks that a record and all that belongs to it go. One that is not there is fine. Not in poll or on_error. Returns LARDER_DENIED,
     * LARDER_LIMIT, LARDER_INVALID_ARGUMENT.
     * [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str collection, larder_str key);
} larder_records;

LARDER_END

#endif
