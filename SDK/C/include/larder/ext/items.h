/* ext/items.h: all items that meet a condition, "larder.items/1".
 *
 * A processor uses this for questions that the items of a run do not answer: which other items lie in a folder, or how
 * many copies the plugin has here. A query sees the items in their state at the start of the run, so that a cursor
 * never shows half of a change.
 *
 * Advice to plugins: query in will_enter_trigger or end_matching, not in perform_action, which is called once for each
 * item. An index holds the items with a local copy in the order of their last use. So a query for the least recently
 * used copies, with a limit, costs only as much as the limit is high.
 *
 * Example:
 *
 *     static larder_status count_copies(const larder_host *host, const larder_items *items, uint64_t *out) {
 *         larder_query query = {sizeof(larder_query), 0, {NULL, 0}, LARDER_FIELD_BIT(LARDER_FIELD_SIZE), 0, 0, 0};
 *         larder_item_cursor *cursor = NULL;
 *         const larder_item *item = NULL;
 *         larder_status status;
 *         query.condition = LARDER_STR("cloudStatus == \"localCopy\" && !removed");
 *         status = items->open(host, &query, &cursor);
 *         if (status != LARDER_OK) return status;
 *         *out = 0;
 *         while ((status = cursor->next(cursor, &item)) == LARDER_OK && item) ++*out;
 *         items->close(host, cursor);
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_ITEMS_H
#define LARDER_EXT_ITEMS_H

#include "../base.h"
#include "../host.h"
#include "../item.h"

#define LARDER_EXT_ITEMS "larder.items/1"

LARDER_BEGIN

/* The value of `sort` for a field. */
#define LARDER_SORT_BY(field) ((uint32_t)(field) + 1u)

/* Puts the greatest value first instead of the least. */
#define LARDER_QUERY_DESCENDING 0x01u

/* A query for items. */
typedef struct larder_query {
    uint32_t struct_size;
    uint32_t reserved;
    /* A text in the condition language: "type == \"file\" && !removed". It may name "availableOffline" and "claimed". */
    larder_str condition;
    /* The fields to fill: a mask of LARDER_FIELD_BITs. */
    uint64_t fields;
    /* LARDER_SORT_BY the path, name, size, last_modified or last_used; 0: in no particular order. Text is sorted by its
     * bytes. Items without a value come first, or last if descending. Items with equal values come in the order of
     * their paths. */
    uint32_t sort;
    /* A set of LARDER_QUERY_…. Without `sort` it means nothing. */
    uint32_t flags;
    /* The greatest number of items, the first ones of the order; 0: all items. */
    uint64_t limit;
} larder_query;

/* The items service. */
typedef struct larder_items {
    uint32_t struct_size;
    uint32_t reserved;

    /* Opens a cursor over the items that meet the query's condition, including removed items, and sets `*out` to it.
     * Each call opens another cursor; at most 16 may be open at a time. The plugin closes the cursor; the host closes
     * cursors that are still open when the current call returns. Returns LARDER_INVALID_ARGUMENT (the condition does
     * not parse, or items cannot be sorted by the field; the log says why), LARDER_LIMIT (16 cursors are open) or
     * LARDER_IO.
     * [processor] since 1.0 */
    larder_status (*open)(const larder_host *host, const larder_query *query,
                          larder_item_cursor *LARDER_NULLABLE *LARDER_NONNULL out);

    /* Closes a cursor of `open`, and frees it. Returns LARDER_INVALID_ARGUMENT for any other cursor, such as that of
     * preflight.
     * [processor] since 1.0 */
    larder_status (*close)(const larder_host *host, larder_item_cursor *cursor);
} larder_items;

LARDER_END

#endif
