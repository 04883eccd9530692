/* ext/items.h: all items that meet a condition, "larder.items/1".
 *
 * For what the items of a run do not tell by themselves: what else lies in a folder, how many copies a plugin has
 * here. The items are those at the start of the run, so that a cursor never sees half of a change.
 *
 * Advice to plugins: not in perform_action, where it would be asked once an item, but in will_enter_trigger or
 * end_matching.
 */
#ifndef LARDER_EXT_ITEMS_H
#define LARDER_EXT_ITEMS_H

#include "../base.h"
#include "../host.h"
#include "../item.h"

#define LARDER_EXT_ITEMS "larder.items/1"

LARDER_BEGIN

typedef struct larder_query {
    uint32_t struct_size;
    uint32_t reserved;
    /* In the condition language: "type == \"file\" && !removed". */
    larder_str condition;
    /* The fields to fill, LARDER_FIELD_BITs. */
    uint64_t fields;
} larder_query;

typedef struct larder_items {
    uint32_t struct_size;
    uint32_t reserved;

    /* Opens a cursor over the items that meet the query's condition, removed ones included, in no particular order.
     * The plugin closes it; the host closes what is left open when the call under way returns. Each call opens another
     * one, 16 at most at a time. Returns LARDER_INVALID_ARGUMENT (the condition does not parse; the log says why),
     * LARDER_LIMIT, LARDER_IO.
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
