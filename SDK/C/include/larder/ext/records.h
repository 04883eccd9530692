/* ext/records.h: the records that event loops keep, "larder.records/1".
 *
 * A record has a key that is unique in its collection, a version, a value for programs, and perhaps a content, which is
 * the thing itself. The things that belong to one record lie in a collection of their own, whose name is made of the
 * record's collection, a slash and the record's key: the objects of the calendar "/ada/work/" in "calendars" lie in
 * "calendars//ada/work/". That collection is removed with the record.
 *
 * The host notes changes in process and refresh, and makes them when it commits the turn, together with the event id.
 * `get` sees the earlier requests of the same turn. A cursor shows the records at the start of the turn.
 *
 * All records that a plugin's loops keep in an account, with their keys, versions, values and contents, may take as much
 * as the config's record-quota says: 1 GB as a rule. After a record was refused because it would go above that, the host
 * lets the turn fail with LARDER_LIMIT, whatever the call returns. Nothing of the turn is kept, neither records nor
 * values nor the event id, so that the loop comes to the same events again and misses none. An issue names the plugin and
 * the setting. Records may still be removed, and replaced by ones that are not longer.
 *
 * Since 1.2 a processor may read all records too, in the state in which it sees the items of its run, and gets
 * LARDER_TRIGGER_RECORDS_CHANGED after they have changed. It changes none. A host before 1.2 refuses its calls with
 * LARDER_WRONG_STATE.
 *
 * Programs know these collections: "calendars" (value: name, href, components), a calendar's own collection (value:
 * uid, component, summary, start, end, rrule; content: iCalendar), which the host also writes as files, "shares" and
 * "account".
 *
 * Example:
 *
 *     static larder_status keep(const larder_host *host, const larder_records *records, larder_str etag) {
 *         larder_record record;
 *         memset(&record, 0, sizeof record);
 *         record.struct_size = sizeof record;
 *         record.key = LARDER_STR("headline-7");
 *         record.version = etag;
 *         record.value = LARDER_STR("{\"title\": \"Rain\"}");
 *         return records->put(host, LARDER_STR("org.example.headlines"), &record);
 *     }
 */
#ifndef LARDER_EXT_RECORDS_H
#define LARDER_EXT_RECORDS_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_RECORDS "larder.records/1"

/* The parts of a record that a function reads. It always reads the key. */
#define LARDER_RECORD_VERSION 0x01u
#define LARDER_RECORD_VALUE 0x02u
#define LARDER_RECORD_CONTENT 0x04u

LARDER_BEGIN

/* A record. */
typedef struct larder_record {
    uint32_t struct_size;
    uint32_t reserved;
    larder_str key;       /* a path or an id; not empty, at most 4 KiB */
    larder_str version;   /* the server's version, such as an ETag; may be empty */
    larder_str value;     /* a JSON object, or empty if there is nothing to tell yet; at most 1 MiB */
    larder_bytes content; /* absent: the record has none, or the plugin did not ask for it */
} larder_record;

/* A stream of records in the order of their keys' bytes. */
typedef struct larder_record_cursor larder_record_cursor;

struct larder_record_cursor {
    uint32_t struct_size;
    uint32_t reserved;
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Sets `*out` to the next record, or to null past the last record. Called again past the last record, it sets null
     * again. The record is borrowed until the next `next` or `close` of this cursor. Returns LARDER_CANCELLED (the call
     * should end) or LARDER_IO (the records cannot be read); the cursor is then at its end.
     * [processor] [loop] since 1.0 */
    larder_status (*next)(larder_record_cursor *cursor, const larder_record *LARDER_NULLABLE *LARDER_NONNULL out);
};

/* The records service. `collection` is the name of a collection. `parts` is a set of LARDER_RECORD_…. */
typedef struct larder_records {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the asked parts of the record with this key. Set out->struct_size before. Everything that
     * `*out` points to is borrowed until the current call returns. Returns LARDER_NOT_FOUND (no such record) or
     * LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*get)(const larder_host *host, larder_str collection, larder_str key, uint32_t parts,
                         larder_record *out);

    /* Opens a cursor over a collection's records, and sets `*out` to it. If `after` is present, the cursor shows only
     * the records with a greater key. The cursor of a collection that does not exist is empty. At most 16 cursors may
     * be open at a time. The plugin closes the cursor; the host closes cursors that are still open when the current
     * call returns. Returns LARDER_LIMIT (16 cursors are open) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*open)(const larder_host *host, larder_str collection, larder_str after, uint32_t parts,
                          larder_record_cursor *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes a cursor of `open`, and frees it.
     * [processor] [loop] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_record_cursor *cursor);

    /* Asks for a record as given, in place of the record with its key if there is one. The host copies all of it. Not
     * allowed in poll and on_error. Returns LARDER_DENIED (another loop's collection, or in a processor), LARDER_LIMIT
     * (more than 16 MiB in the turn, a member that is larger than larder_record allows, or more than the config's
     * record-quota for all records of the plugin's loops: the turn then fails) or LARDER_INVALID_ARGUMENT (an empty key,
     * or a value that is not a JSON object).
     * [processor] [loop] since 1.0 */
    larder_status (*put)(const larder_host *host, larder_str collection, const larder_record *record);

    /* Asks for the removal of the record with this key and of everything that belongs to it. A record that does not
     * exist is no error. Not allowed in poll and on_error. Returns LARDER_DENIED (another loop's collection, or in a
     * processor), LARDER_LIMIT (a key above 4 KiB, or more than 16 MiB in the turn) or LARDER_INVALID_ARGUMENT (an
     * empty key).
     * [processor] [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str collection, larder_str key);
} larder_records;

LARDER_END

#endif
