/* Streams of items. Each item is a copy with only the requested fields. It is freed when the next one comes. */
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
    larder_status status = enter(cursor->fake, "item_cursor.next", IN_PROCESSOR);
    *out = NULL;
    if (status != LARDER_OK) return status;
    if (cursor->fake->cancelled) return LARDER_CANCELLED;
    free_item(&cursor->lent);
    if (cursor->next < cursor->found.count) {
        cursor->lent = copy_item(cursor->found.at[cursor->next++], cursor->fields);
        *out = cursor->lent.item;
    }
    return LARDER_OK;
}

/* An item's place in the requested order. */
struct place {
    const larder_item *item;
    uint32_t field;
    int sign; /* -1: descending */
};

static int by_number(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_bytes(larder_str a, larder_str b) {
    uint64_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;
    return order ? order : by_number((int64_t)a.len, (int64_t)b.len);
}

static int by_field(const void *left, const void *right) {
    const struct place *one = left, *other = right;
    const larder_item *a = one->item, *b = other->item;
    int has_a = (a->present >> one->field & 1) != 0, has_b = (b->present >> one->field & 1) != 0, order;
    if (!has_a || !has_b) return one->sign * (has_a - has_b);
    switch (one->field) {
    case LARDER_FIELD_PATH: order = by_bytes(a->path, b->path); break;
    case LARDER_FIELD_NAME: order = by_bytes(a->name, b->name); break;
    case LARDER_FIELD_SIZE: order = by_number(a->size, b->size); break;
    case LARDER_FIELD_LAST_MODIFIED: order = by_number(a->last_modified, b->last_modified); break;
    default: order = by_number(a->last_used, b->last_used); break;
    }
    return one->sign * order;
}

static void sort(struct cursor *cursor, const larder_query *query) {
    struct place *places = resized(NULL, cursor->found.count * sizeof *places);
    for (size_t i = 0; i < cursor->found.count; i++) {
        places[i].item = cursor->found.at[i];
        places[i].field = query->sort - 1;
        places[i].sign = query->flags & LARDER_QUERY_DESCENDING ? -1 : 1;
    }
    qsort(places, cursor->found.count, sizeof *places, by_field);
    for (size_t i = 0; i < cursor->found.count; i++) cursor->found.at[i] = places[i].item;
    free(places);
}

larder_item_cursor *open_cursor(larder_fake *fake, const larder_query *query, uint64_t fields) {
    struct cursor *cursor = resized(NULL, sizeof *cursor);
    memset(cursor, 0, sizeof *cursor);
    cursor->table.struct_size = sizeof cursor->table;
    cursor->table.context = cursor;
    cursor->table.next = next;
    cursor->fake = fake;
    cursor->is_hosts = !query;
    cursor->fields = fields;
    for (size_t i = 0; i < fake->items.count; i++) {
        const larder_item *item = fake->items.at[i].item;
        if (query ? fake->evaluator && fake->evaluator(fake->evaluator_context, query->condition, item)
                  : is_changed(fake, item))
            APPEND(cursor->found, item);
    }
    if (query && query->sort) sort(cursor, query);
    if (query && query->limit && query->limit < cursor->found.count) cursor->found.count = query->limit;
    APPEND(fake->cursors, cursor);
    return &cursor->table;
}

void free_cursor(struct cursor *cursor) {
    free_item(&cursor->lent);
    free(cursor->found.at);
    free(cursor);
}

void close_cursors(larder_fake *fake) {
    for (size_t i = 0; i < fake->cursors.count; i++) free_cursor(fake->cursors.at[i]);
    fake->cursors.count = 0;
}
