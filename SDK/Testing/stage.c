/* The functions that put something on the stage. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

void larder_fake_settings(larder_fake *fake, const char *json) {
    free(fake->settings);
    fake->settings = copied(json);
}

void larder_fake_time(larder_fake *fake, int64_t now, int64_t monotonic) {
    fake->now = now;
    fake->monotonic = monotonic;
}

void larder_fake_room(larder_fake *fake, int64_t local_bytes, int64_t local_copies, int64_t free_bytes,
                      int64_t total_bytes) {
    fake->usage.local_bytes = local_bytes;
    fake->usage.local_copies = local_copies;
    fake->usage.free_bytes = free_bytes;
    fake->usage.total_bytes = total_bytes;
}

void larder_fake_drop_item(larder_fake *fake, const char *local_id) {
    for (size_t i = 0; i < fake->items.count; i++) {
        if (!same(fake->items.at[i].item->local_id, local_id)) continue;
        free_item(&fake->items.at[i]);
        fake->items.count--;
        memmove(&fake->items.at[i], &fake->items.at[i + 1], (fake->items.count - i) * sizeof *fake->items.at);
        return;
    }
}

void larder_fake_put_item(larder_fake *fake, const larder_item *item) {
    struct copied_item made = copy_item(item, UINT64_MAX);
    char *id = text_of(made.item->local_id);
    for (size_t i = 0; i < fake->items.count; i++) {
        if (!same(fake->items.at[i].item->local_id, id)) continue;
        free_item(&fake->items.at[i]);
        fake->items.at[i] = made;
        made.item = NULL;
    }
    free(id);
    if (made.item) APPEND(fake->items, made);
}

void larder_fake_drop_policy(larder_fake *fake, const char *id) {
    for (size_t i = 0; i < fake->policies.count; i++) {
        if (!same(fake->policies.at[i].policy->id, id)) continue;
        free_policy(&fake->policies.at[i]);
        fake->policies.count--;
        memmove(&fake->policies.at[i], &fake->policies.at[i + 1],
                (fake->policies.count - i) * sizeof *fake->policies.at);
        fake->policies_changed = 1;
        return;
    }
}

void larder_fake_put_policy(larder_fake *fake, const larder_policy *policy) {
    struct copied_policy made = copy_policy(policy);
    char *id = text_of(made.policy->id);
    for (size_t i = 0; i < fake->policies.count; i++) {
        if (!same(fake->policies.at[i].policy->id, id)) continue;
        free_policy(&fake->policies.at[i]);
        fake->policies.at[i] = made;
        made.policy = NULL;
    }
    free(id);
    if (made.policy) APPEND(fake->policies, made);
    fake->policies_changed = 1;
}

void larder_fake_evaluate_with(larder_fake *fake, larder_fake_evaluator evaluator, void *context) {
    fake->evaluator = evaluator;
    fake->evaluator_context = context;
}

void larder_fake_withhold(larder_fake *fake, const char *service) {
    char *name = copied(service);
    APPEND(fake->withheld, name);
}

void larder_fake_grant(larder_fake *fake, const char *grant) {
    char *name = copied(grant);
    APPEND(fake->grants, name);
}

void larder_fake_fail(larder_fake *fake, const char *function, uint32_t nth, larder_status status) {
    struct fault fault = {copied(function), nth, status, nth == 0};
    APPEND(fake->faults, fault);
}

void larder_fake_cancel(larder_fake *fake) { fake->cancelled = 1; }

size_t larder_fake_policy_count(const larder_fake *fake) { return fake->policies.count; }

const larder_policy *larder_fake_policy_at(const larder_fake *fake, size_t index) {
    return index < fake->policies.count ? fake->policies.at[index].policy : NULL;
}

const larder_bytes *larder_fake_value(const larder_fake *fake, const char *key) {
    for (size_t i = 0; i < fake->values.count; i++) {
        if (strcmp(fake->values.at[i].key, key) == 0) return &fake->values.at[i].bytes;
    }
    return NULL;
}
