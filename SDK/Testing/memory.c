/* Copies of the values that tests and plugins pass, and of the values that are lent to them. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *resized(void *block, size_t size) {
    void *made = realloc(block, size ? size : 1);
    if (!made) {
        fputs("the fake host is out of memory\n", stderr);
        abort();
    }
    return made;
}

char *text_of(larder_str text) {
    char *made = resized(NULL, text.len + 1);
    if (text.len) memcpy(made, text.ptr, text.len);
    made[text.len] = 0;
    return made;
}

char *copied(const char *text) { return text_of(larder_str_make(text, strlen(text))); }

int same(larder_str text, const char *other) {
    return text.ptr && text.len == strlen(other) && memcmp(text.ptr, other, text.len) == 0;
}

/* Copies the texts of `texts` into one block, and makes them point into it. */
static char *gather(larder_str *const *texts, size_t count) {
    size_t size = 0;
    char *block, *end;
    for (size_t i = 0; i < count; i++) size += texts[i]->len + 1;
    block = end = resized(NULL, size);
    for (size_t i = 0; i < count; i++) {
        if (!texts[i]->ptr) continue;
        memcpy(end, texts[i]->ptr, texts[i]->len);
        texts[i]->ptr = end;
        end += texts[i]->len;
    }
    return block;
}

struct copied_item copy_item(const larder_item *item, uint64_t fields) {
    struct copied_item made = {resized(NULL, sizeof(larder_item)), NULL};
    larder_item *m = made.item;
    memset(m, 0, sizeof *m);
    m->struct_size = sizeof *m;
    m->present = item->present & fields;
#define TAKE(field, member)                                                                                            \
    if (m->present & LARDER_FIELD_BIT(field)) m->member = item->member
    TAKE(LARDER_FIELD_PATH, path);
    TAKE(LARDER_FIELD_NAME, name);
    TAKE(LARDER_FIELD_TYPE, type);
    TAKE(LARDER_FIELD_SIZE, size);
    TAKE(LARDER_FIELD_MIME_TYPE, mime_type);
    TAKE(LARDER_FIELD_ETAG, etag);
    TAKE(LARDER_FIELD_FILE_ID, file_id);
    TAKE(LARDER_FIELD_LOCAL_ID, local_id);
    TAKE(LARDER_FIELD_LAST_MODIFIED, last_modified);
    TAKE(LARDER_FIELD_LAST_USED, last_used);
    TAKE(LARDER_FIELD_CLOUD_STATUS, cloud_status);
    TAKE(LARDER_FIELD_DOWNLOAD_TRIGGER, download_trigger);
    TAKE(LARDER_FIELD_REMOVED, removed);
    TAKE(LARDER_FIELD_FAVORITE, favorite);
    TAKE(LARDER_FIELD_REMOTE_VERSION, remote_version);
    TAKE(LARDER_FIELD_PARENT_PATH, parent_path);
    TAKE(LARDER_FIELD_OWNER, owner);
    TAKE(LARDER_FIELD_PERMISSIONS, permissions);
    TAKE(LARDER_FIELD_AVAILABLE_OFFLINE, available_offline);
    TAKE(LARDER_FIELD_SYNC_ACTIVITY, sync_activity);
    TAKE(LARDER_FIELD_LOCAL_PATH, local_path);
    TAKE(LARDER_FIELD_SHARES, shares);
    TAKE(LARDER_FIELD_CLAIMS, claims);
#undef TAKE
    larder_str *texts[] = {&m->path, &m->name, &m->mime_type, &m->etag,
                           &m->file_id, &m->local_id, &m->parent_path, &m->download_trigger,
                           &m->owner, &m->permissions, &m->local_path, &m->shares};
    made.texts = gather(texts, sizeof texts / sizeof *texts);
    return made;
}

void free_item(struct copied_item *item) {
    free(item->item);
    free(item->texts);
    item->item = NULL;
    item->texts = NULL;
}

struct copied_policy copy_policy(const larder_policy *policy) {
    struct copied_policy made = {resized(NULL, sizeof(larder_policy)), NULL};
    larder_policy *m = made.policy;
    larder_str data;
    *m = *policy;
    m->struct_size = sizeof *m;
    data = larder_str_make((const char *)m->data.ptr, m->data.len);
    larder_str *texts[] = {&m->id,   &m->kind,     &m->identifier,       &m->description, &m->condition,
                           &m->path, &m->local_id, &m->remove_when_none, &data};
    made.texts = gather(texts, sizeof texts / sizeof *texts);
    m->data.ptr = (const uint8_t *)data.ptr;
    return made;
}

void free_policy(struct copied_policy *policy) {
    free(policy->policy);
    free(policy->texts);
    policy->policy = NULL;
    policy->texts = NULL;
}

struct value make_value(larder_bytes key, const larder_bytes *bytes) {
    struct value made = {text_of(larder_str_make((const char *)key.ptr, key.len)), {NULL, 0}};
    if (bytes) {
        made.bytes.ptr = (const uint8_t *)text_of(larder_str_make((const char *)bytes->ptr, bytes->len));
        made.bytes.len = bytes->len;
    }
    return made;
}

void free_value(struct value *value) {
    free(value->key);
    free((void *)(uintptr_t)value->bytes.ptr);
    value->key = NULL;
    value->bytes.ptr = NULL;
}

int is_text(larder_str text) { return text.ptr && is_utf8(text); }

int is_path(larder_str text) {
    uint64_t from = 1;
    if (!is_text(text) || !text.len || text.ptr[0] != '/' || text.len > 3500) return 0;
    while (from < text.len) {
        const char *name = text.ptr + from, *slash = memchr(name, '/', text.len - from);
        uint64_t length = slash ? (uint64_t)(slash - name) : text.len - from;
        if (!length || length > 255 || memchr(name, 0, length) || (length <= 2 && !memcmp(name, "..", length)))
            return 0;
        from += length + 1;
    }
    return 1;
}

int is_utf8(larder_str text) {
    const unsigned char *p = (const unsigned char *)text.ptr;
    uint64_t i = 0;
    while (i < text.len) {
        uint32_t scalar = p[i], more = scalar < 0x80 ? 0 : scalar >> 5 == 6 ? 1 : scalar >> 4 == 14 ? 2 : 3;
        static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
        if (scalar >= 0xF8 || (scalar >= 0x80 && scalar < 0xC0) || i + more >= text.len) return 0;
        scalar &= more == 0 ? 0x7F : 0x3Fu >> more;
        for (uint32_t k = 1; k <= more; k++) {
            if (p[i + k] >> 6 != 2) return 0;
            scalar = scalar << 6 | (p[i + k] & 0x3F);
        }
        if (scalar < least[more] || scalar > 0x10FFFF || (scalar >= 0xD800 && scalar < 0xE000)) return 0;
        i += more + 1;
    }
    return 1;
}

larder_bytes copy_bytes(larder_bytes from) {
    larder_bytes made = {(const uint8_t *)text_of(larder_str_make((const char *)from.ptr, from.len)), from.len};
    return made;
}

void free_bytes(larder_bytes *bytes) {
    free((void *)(uintptr_t)bytes->ptr);
    bytes->ptr = NULL;
    bytes->len = 0;
}

void *lend(larder_fake *fake, size_t size) {
    void *made = resized(NULL, size);
    APPEND(fake->lent_blocks, made);
    return made;
}

larder_str lend_text(larder_fake *fake, const char *text) {
    size_t length = strlen(text);
    return larder_str_make(memcpy(lend(fake, length), text, length), length);
}

void free_lent(larder_fake *fake) {
    for (size_t i = 0; i < fake->lent_blocks.count; i++) free(fake->lent_blocks.at[i]);
    fake->lent_blocks.count = 0;
}
