/* The record of what happened: the entries, and the problem. */
#include "fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

larder_fake_entry *record(larder_fake *fake, uint32_t kind, const char *name) {
    struct entry entry;
    memset(&entry, 0, sizeof entry);
    entry.shown.kind = kind;
    entry.shown.name = copied(name);
    APPEND(fake->entries, entry);
    return &fake->entries.at[fake->entries.count - 1].shown;
}

void record_policy(larder_fake *fake, const char *name, uint32_t flags, const larder_policy *policy) {
    struct entry *entry;
    record(fake, LARDER_FAKE_POLICY, name);
    entry = &fake->entries.at[fake->entries.count - 1];
    entry->policy = copy_policy(policy);
    entry->shown.policy = entry->policy.policy;
    entry->shown.id = text_of(policy->id);
    entry->shown.number = flags;
}

static void free_entry(struct entry *entry) {
    free((void *)(uintptr_t)entry->shown.name);
    free((void *)(uintptr_t)entry->shown.path);
    free((void *)(uintptr_t)entry->shown.id);
    free((void *)(uintptr_t)entry->shown.text);
    free((void *)(uintptr_t)entry->shown.target);
    free_policy(&entry->policy);
}

void drop_wishes_since(larder_fake *fake, size_t first) {
    size_t kept = first;
    for (size_t i = first; i < fake->entries.count; i++) {
        uint32_t kind = fake->entries.at[i].shown.kind;
        if (kind == LARDER_FAKE_ACTION || kind == LARDER_FAKE_POLICY || kind == LARDER_FAKE_VALUE
            || kind == LARDER_FAKE_RECORD) {
            free_entry(&fake->entries.at[i]);
        } else {
            fake->entries.at[kept++] = fake->entries.at[i];
        }
    }
    fake->entries.count = kept;
}

void larder_fake_forget(larder_fake *fake) {
    for (size_t i = 0; i < fake->entries.count; i++) free_entry(&fake->entries.at[i]);
    fake->entries.count = 0;
}

size_t larder_fake_count(const larder_fake *fake, uint32_t kind) {
    size_t count = 0;
    for (size_t i = 0; i < fake->entries.count; i++) count += fake->entries.at[i].shown.kind == kind;
    return count;
}

const larder_fake_entry *larder_fake_entry_at(const larder_fake *fake, uint32_t kind, size_t index) {
    for (size_t i = 0; i < fake->entries.count; i++) {
        if (fake->entries.at[i].shown.kind == kind && index-- == 0) return &fake->entries.at[i].shown;
    }
    return NULL;
}

void set_problem(larder_fake *fake, const char *format, ...) {
    va_list arguments;
    char text[1024];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    free(fake->problem);
    fake->problem = copied(text);
}
