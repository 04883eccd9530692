/* Streams of items. Each item is a copy of its own with the fields that were asked for, freed when the next one comes. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

static int is_changed(const larder_fake *fake, const larder_item *item) {
    for (size_t i = 0; i < fake->changed_count; i++) {
        if (same(item->local_id, fake->changed[i])) return 1;
    }
    return 0;
}

static larder_status next(larder_item_cursor *table, const larder_item **out) {
    struct cursor *cursor = table->context;
    larder_fake *fake = cursor->fake;
    free_item(&cursor->lent);
    *out = NULL;
    while (cursor->next < fake->items.count) {
        const larder_item *item = fake->items.at[cursor->next++].item;
        if (cursor->condition.ptr
                ? !fake->evaluator || !fake->evaluator(fake->evaluator_context, cursor->condition, item)
                : !is_changed(fake, item))
            continue;
        cursor->lent = copy_item(item, cursor->fields);
        *out = cursor->lent.item;
        break;
    }
    return LARDER_OK;
}

larder_item_cursor *open_cursor(larder_fake *fake, larder_str condition, uint64_t fields) {
    struct cursor *cursor = resized(NULL, sizeof *cursor);
    memset(cursor, 0, sizeof *cursor);
    cursor->table.struct_size = sizeof cursor->table;
    cursor->table.context = cursor;
    cursor->table.next = next;
    cursor->fake = fake;
    cursor->fields = fields;
    if (condition.ptr) {
        cursor->text = text_of(condition);
        cursor->condition = larder_str_make(cursor->text, condition.len);
    }
    APPEND(fake->cursors, cursor);
    return &cursor->table;
}

void close_cursors(larder_fake *fake) {
    for (size_t i = 0; i < fake->cursors.count; i++) {
        free_item(&fake->cursors.at[i]->lent);
        free(fake->cursors.at[i]->text);
        free(fake->cursors.at[i]);
    }
    fake->cursors.count = 0;
}
