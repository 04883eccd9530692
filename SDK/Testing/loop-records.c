/* larder.records/1: the requests of the turn over the committed records. A processor only reads. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_TURN (16u << 20)
#define LARGEST_VALUE (1u << 20)
#define LONGEST_KEY 4096u

static int compare(const struct kept_record *one, const char *collection, const char *key) {
    int order = strcmp(one->collection, collection);
    return order ? order : strcmp(one->key, key);
}

/* Returns the index where a record is or would be. */
static size_t place(const larder_fake *fake, const char *collection, const char *key) {
    size_t low = 0, high = fake->records.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&fake->records.at[middle], collection, key) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static struct kept_record *find(const larder_fake *fake, const char *collection, const char *key) {
    size_t at = place(fake, collection, key);
    return at < fake->records.count && !compare(&fake->records.at[at], collection, key) ? &fake->records.at[at] : NULL;
}

static struct kept_record copy_record(const char *collection, const larder_record *record, uint32_t parts) {
    larder_str empty = {"", 0};
    larder_str version = parts & LARDER_RECORD_VERSION && record->version.ptr ? record->version : empty;
    larder_str value = parts & LARDER_RECORD_VALUE && record->value.ptr ? record->value : empty;
    int has_content = parts & LARDER_RECORD_CONTENT && record->content.ptr;
    size_t size = (size_t)(version.len + value.len + (has_content ? record->content.len : 0));
    struct kept_record made;
    memset(&made, 0, sizeof made);
    made.collection = copied(collection);
    made.key = text_of(record->key);
    made.texts = resized(NULL, size);
    memcpy(made.texts, version.ptr, version.len);
    memcpy(made.texts + version.len, value.ptr, value.len);
    made.view.struct_size = sizeof made.view;
    made.view.key = larder_str_make(made.key, strlen(made.key));
    made.view.version = larder_str_make(made.texts, version.len);
    made.view.value = larder_str_make(made.texts + version.len, value.len);
    if (has_content) {
        made.view.content.ptr = (const uint8_t *)made.texts + version.len + value.len;
        made.view.content.len = record->content.len;
        memcpy(made.texts + version.len + value.len, record->content.ptr, record->content.len);
    }
    return made;
}

void free_record(struct kept_record *record) {
    free(record->collection);
    free(record->key);
    free(record->texts);
    memset(record, 0, sizeof *record);
}

/* Tells whether a text is the two others with a slash between them. */
static int is_below(const char *text, const char *collection, const char *key) {
    size_t length = strlen(collection);
    return !strncmp(text, collection, length) && text[length] == '/' && !strcmp(text + length + 1, key);
}

/* Removes the records of the collection whose name is made of the two texts. */
static void remove_below(larder_fake *fake, const char *collection, const char *key) {
    size_t kept = 0;
    for (size_t i = 0; i < fake->records.count; i++) {
        if (is_below(fake->records.at[i].collection, collection, key)) free_record(&fake->records.at[i]);
        else fake->records.at[kept++] = fake->records.at[i];
    }
    fake->records.count = kept;
}

/* Removes everything that belongs to a record: the collection "calendars//ada/work/", and the record's loop with its
 * event id and its own records. Nothing belongs to a record that itself belongs to another one. */
static void remove_owned(larder_fake *fake, const char *collection, const char *key) {
    if (strchr(collection, '/')) return;
    remove_below(fake, collection, key);
    if (!fake->loops || !same(fake->loops->collection, collection)) return;
    remove_below(fake, fake->plugin, key);
    larder_fake_set_event_id(fake, key, NULL);
}

void keep_record(larder_fake *fake, struct kept_record *record) {
    size_t at = place(fake, record->collection, record->key);
    struct kept_record *known = find(fake, record->collection, record->key);
    if (record->goes) {
        if (known) {
            free_record(known);
            fake->records.count--;
            memmove(&fake->records.at[at], &fake->records.at[at + 1], (fake->records.count - at) * sizeof *known);
            remove_owned(fake, record->collection, record->key);
        }
        free_record(record);
    } else if (known) {
        free_record(known);
        *known = *record;
    } else {
        APPEND(fake->records, *record);
        memmove(&fake->records.at[at + 1], &fake->records.at[at], (fake->records.count - 1 - at) * sizeof *record);
        fake->records.at[at] = *record;
    }
}

/* Tells whether the loop of the current turn may change the record. A collection has one writer. The core loop writes
 * the calendars, the shares and the account. A loop of the kind "calendar" or "share" writes its own calendar or share
 * and the collection that belongs to it. Every plugin writes the collection with its id or, if its loops are there for
 * records, the collection below it that belongs to the loop. */
static int may_write(const larder_fake *fake, const char *collection, const char *key) {
    int is_calendar, is_share;
    const char *own;
    if (!strcmp(collection, fake->plugin)) return !fake->loops->collection.ptr;
    if (same(fake->loops->kind, "core"))
        return !strcmp(collection, "calendars") || !strcmp(collection, "shares") || !strcmp(collection, "account");
    if (!fake->loops->collection.ptr) return 0;
    if (is_below(collection, fake->plugin, fake->loop)) return 1;
    is_calendar = same(fake->loops->kind, "calendar") && same(fake->loops->collection, "calendars");
    is_share = same(fake->loops->kind, "share") && same(fake->loops->collection, "shares");
    if (!is_calendar && !is_share) return 0;
    own = is_calendar ? "calendars" : "shares";
    return is_below(collection, own, fake->loop) || (!strcmp(collection, own) && !strcmp(key, fake->loop));
}

static int is_object(larder_str value) {
    struct json parsed;
    int is_one;
    if (!value.len) return 1;
    if (!parse_json(&parsed, value)) return 0;
    is_one = parsed.kind == JSON_OBJECT;
    free_json(&parsed);
    return is_one;
}

static int are_parts(uint32_t parts) {
    return !(parts & ~(LARDER_RECORD_VERSION | LARDER_RECORD_VALUE | LARDER_RECORD_CONTENT));
}

static larder_status ask(larder_fake *fake, const char *function, larder_str collection, const larder_record *given,
                         int goes) {
    larder_record view;
    struct wish wish;
    larder_fake_entry *entry;
    char *of;
    uint64_t size;
    if (!take(&view, sizeof view, given, FIRST_RECORD)) return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    if (fake->state == PROCESSOR) return refuse(fake, function, LARDER_DENIED);
    if (!collection.len || !view.key.len || !is_utf8(collection) || !is_utf8(view.key) || !is_utf8(view.version)
        || !is_object(view.value))
        return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    size = view.key.len + view.version.len + view.value.len + view.content.len;
    if (view.key.len > LONGEST_KEY || view.value.len > LARGEST_VALUE || fake->turn_bytes + size > LARGEST_TURN)
        return refuse(fake, function, LARDER_LIMIT);
    of = text_of(collection);
    memset(&wish, 0, sizeof wish);
    wish.name = goes ? "remove" : "put";
    wish.record =
        copy_record(of, &view, LARDER_RECORD_VERSION | LARDER_RECORD_VALUE | LARDER_RECORD_CONTENT);
    wish.record.goes = goes;
    free(of);
    if (!may_write(fake, wish.record.collection, wish.record.key)) {
        free_record(&wish.record);
        return refuse(fake, function, LARDER_DENIED);
    }
    fake->turn_bytes += size;
    APPEND(fake->wishes, wish);
    entry = record(fake, LARDER_FAKE_RECORD, wish.name);
    entry->path = copied(wish.record.collection);
    entry->id = copied(wish.record.key);
    entry->text = goes ? NULL : text_of(wish.record.view.value);
    return LARDER_OK;
}

static larder_status records_put(const larder_host *host, larder_str collection, const larder_record *given) {
    larder_status status = enter(fake_of(host), "records.put", IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    return status == LARDER_OK ? ask(fake_of(host), "records.put", collection, given, 0) : status;
}

static larder_status records_remove(const larder_host *host, larder_str collection, larder_str key) {
    larder_status status = enter(fake_of(host), "records.remove", IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    larder_record named;
    memset(&named, 0, sizeof named);
    named.struct_size = sizeof named;
    named.key = key;
    return status == LARDER_OK ? ask(fake_of(host), "records.remove", collection, &named, 1) : status;
}

/* Lends a copy for the call, so that a plugin which keeps it is detected. */
static larder_status records_get(const larder_host *host, larder_str collection, larder_str key, uint32_t parts,
                                 larder_record *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "records.get", IN_WORK);
    const struct kept_record *found = NULL;
    struct kept_record lent;
    char *of, *named;
    if (status != LARDER_OK) return status;
    if (!is_sized(out, FIRST_RECORD) || !is_text(collection) || !is_text(key))
        return refuse(fake, "records.get", LARDER_INVALID_ARGUMENT);
    if (!are_parts(parts)) return refuse_unknown(fake, "records.get");
    of = text_of(collection);
    named = text_of(key);
    for (size_t i = fake->wishes.count; !found && i-- > 0;) {
        const struct kept_record *asked = &fake->wishes.at[i].record;
        if (asked->key && !compare(asked, of, named)) found = asked;
    }
    if (!found) found = find(fake, of, named);
    free(named);
    if (found && !found->goes) {
        lent = copy_record(of, &found->view, parts);
        APPEND(fake->lent_records, lent);
        fill(out, &lent.view, sizeof lent.view);
    }
    free(of);
    return found && !found->goes ? LARDER_OK : LARDER_NOT_FOUND;
}

static larder_status next_record(larder_record_cursor *table, const larder_record **out) {
    struct record_cursor *cursor = table->context;
    larder_status status = enter(cursor->fake, "record_cursor.next", IN_WORK);
    *out = NULL;
    if (status != LARDER_OK) return status;
    if (cursor->fake->cancelled) return LARDER_CANCELLED;
    if (cursor->next) free_record(&cursor->found.at[cursor->next - 1]);
    if (cursor->next < cursor->found.count) *out = &cursor->found.at[cursor->next++].view;
    return LARDER_OK;
}

static larder_status records_open(const larder_host *host, larder_str collection, larder_str after, uint32_t parts,
                                  larder_record_cursor **out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "records.open", IN_WORK);
    struct record_cursor *cursor;
    char *of, *key;
    if (status != LARDER_OK) return status;
    if (!is_text(collection) || !is_utf8(after)) return refuse(fake, "records.open", LARDER_INVALID_ARGUMENT);
    if (!are_parts(parts)) return refuse_unknown(fake, "records.open");
    if (fake->record_cursors.count >= 16) return refuse(fake, "records.open", LARDER_LIMIT);
    cursor = resized(NULL, sizeof *cursor);
    memset(cursor, 0, sizeof *cursor);
    cursor->fake = fake;
    cursor->table.struct_size = sizeof cursor->table;
    cursor->table.context = cursor;
    cursor->table.next = next_record;
    of = text_of(collection);
    key = after.ptr ? text_of(after) : NULL;
    for (size_t i = place(fake, of, key ? key : ""); i < fake->records.count; i++) {
        if (strcmp(fake->records.at[i].collection, of)) break;
        if (key && !strcmp(fake->records.at[i].key, key)) continue;
        struct kept_record found = copy_record(of, &fake->records.at[i].view, parts);
        APPEND(cursor->found, found);
    }
    free(of);
    free(key);
    APPEND(fake->record_cursors, cursor);
    *out = &cursor->table;
    return LARDER_OK;
}

static void free_record_cursor(struct record_cursor *cursor) {
    for (size_t i = 0; i < cursor->found.count; i++) free_record(&cursor->found.at[i]);
    free(cursor->found.at);
    free(cursor);
}

static larder_status records_close(const larder_host *host, larder_record_cursor *table) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "records.close", IN_WORK);
    if (status != LARDER_OK) return status;
    for (size_t i = 0; i < fake->record_cursors.count; i++) {
        struct record_cursor *open = fake->record_cursors.at[i];
        if (&open->table != table) continue;
        fake->record_cursors.at[i] = fake->record_cursors.at[--fake->record_cursors.count];
        free_record_cursor(open);
        return LARDER_OK;
    }
    return refuse(fake, "records.close", LARDER_INVALID_ARGUMENT);
}

void close_record_cursors(larder_fake *fake) {
    for (size_t i = 0; i < fake->record_cursors.count; i++) free_record_cursor(fake->record_cursors.at[i]);
    for (size_t i = 0; i < fake->lent_records.count; i++) free_record(&fake->lent_records.at[i]);
    fake->record_cursors.count = fake->lent_records.count = 0;
}

const larder_records records_table = {sizeof records_table, 0,           records_get,   records_open,
                                      records_close,        records_put, records_remove};

/* --- The test's side. --- */

void larder_fake_put_record(larder_fake *fake, const char *collection, const larder_record *given) {
    struct kept_record made =
        copy_record(collection, given, LARDER_RECORD_VERSION | LARDER_RECORD_VALUE | LARDER_RECORD_CONTENT);
    keep_record(fake, &made);
}

void larder_fake_drop_record(larder_fake *fake, const char *collection, const char *key) {
    struct kept_record gone;
    memset(&gone, 0, sizeof gone);
    gone.collection = copied(collection);
    gone.key = copied(key);
    gone.goes = 1;
    keep_record(fake, &gone);
}

const larder_record *larder_fake_record(const larder_fake *fake, const char *collection, const char *key) {
    const struct kept_record *found = find(fake, collection, key);
    return found ? &found->view : NULL;
}

const larder_record *larder_fake_record_at(const larder_fake *fake, const char *collection, size_t index) {
    size_t at = place(fake, collection, "") + index;
    if (at >= fake->records.count || strcmp(fake->records.at[at].collection, collection)) return NULL;
    return &fake->records.at[at].view;
}

void free_records(larder_fake *fake) {
    close_record_cursors(fake);
    for (size_t i = 0; i < fake->records.count; i++) free_record(&fake->records.at[i]);
    free(fake->records.at);
    free(fake->record_cursors.at);
    free(fake->lent_records.at);
}
