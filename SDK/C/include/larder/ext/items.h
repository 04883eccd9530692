/* ext/items.h: all items that meet a condition, "larder.items/1".
 *
 * For what the items of a run do not tell by themselves: what else lies in a folder, how many copies a plugin has
 * here. The items are those at the start of the run, so that a cursor never sees half of a change.
 *
 * Advice to plugins: not in perform_action, where it would be asked once an item, but in will_enter_trigger or
 * end_matching. Of what is here, the least recently used come from an index in their order: with a limit, asking for them
 * costs as little as they are few.
 */
#ifndef LARDER_EXT_ITEMS_H
#define LARDER_EXT_ITEMS_H

#include "../base.h"
#include "../host.h"
#include "../item.h"

#define LARDER_EXT_ITEMS "larder.items/1"

LARDER_BEGIN

/* A field's number as `sort` has it. */
#define LARDER_SORT_BY(field) ((uint32_t)(field) + 1u)

/* The greatest first instead of the least. */
#define LARDER_QUERY_DESCENDING 0x01u

typedef struct larder_query {
    uint32_t struct_size;
    uint32_t reserved;
    /* In the condition language: "type == \"file\" && !removed". */
    larder_str condition;
    /* The fields to fill, LARDER_FIELD_BITs. */
    uint64_t fields;
    /* LARDER_SORT_BY the path, name, size, last_modified or last_used; 0: in no particular order. Text is sorted by its
     * bytes. Items without a value come first, or last if descending; equal ones in no particular order. */
    uint32_t sort;
    /* LARDER_QUERY_…. Without `sort` they mean nothing. */
    uint32_t flags;
    /* At most this many items, the first of the order; 0: all. */
    uint64_t limit;
} larder_query;

typedef struct larder_items {
    uint32_t struct_size;
    uint32_t reserved;

    /* Opens a cursor over the items that meet the query's condition, removed ones included. The plugin closes it; the host closes what is left open when the call under way returns. Each call opens another
     * one, 16 at most at a time. Returns LARDER_INVALID_ARGUMENT (the condition does not parse, or items are not sorted
     * by the field; the log says why), LARDER_LIMIT, LARDER_IO.
     * [processor] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_query *query,
                          larder_item_cursor *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes a cursor that `open` handed out; it is gone then. Closing one that preflight got is
     * LARDER_INVALID_ARGUMENT.
     * [processor] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_item_cursor *cursor);
} larder_items;

LARDER_END

#endif
