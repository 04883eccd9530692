/* The calls of a run, in the order of ext/processor.h. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

/* Carries out the run's requests for policies. */
static void keep_policies(larder_fake *fake) {
    static unsigned made;
    for (size_t i = 0; i < fake->granted.count; i++) {
        struct wish *wish = &fake->granted.at[i];
        larder_policy *policy = wish->policy.policy;
        if (strcmp(wish->name, "remove") == 0) {
            char *id = text_of(policy->id);
            larder_fake_drop_policy(fake, id);
            free(id);
        } else {
            char id[] = "00000000-0000-4000-8000-000000000000";
            if (strcmp(wish->name, "add") == 0) {
                unsigned number = ++made;
                for (size_t digit = sizeof id - 2; number; digit--, number /= 10) id[digit] = (char)('0' + number % 10);
                policy->id = larder_str_make(id, sizeof id - 1);
                policy->revision = 0;
            }
            policy->kind = fake->processor->kind;
            policy->revision++;
            larder_fake_put_policy(fake, policy);
        }
        free_policy(&wish->policy);
        fake->policies_changed = 1;
    }
    fake->granted.count = 0;
}

/* Records a call that returned. */
static void called(larder_fake *fake, larder_status *first, const char *name, uint32_t trigger, const larder_item *item,
                   larder_status status) {
    larder_fake_entry *entry = record(fake, LARDER_FAKE_CALL, name);
    entry->number = trigger;
    entry->status = status;
    if (item && item->path.ptr) entry->path = text_of(item->path);
    check_status(fake, name, status);
    end_call(fake, status);
    if (*first == LARDER_OK) *first = status;
}

#define CALL(name, ...)                                                                                                \
    (begin_call(fake, PROCESSOR), called(fake, &first, #name, trigger, NULL, p->name(context, __VA_ARGS__)))

typedef larder_status (*per_item)(void *, uint32_t, const larder_item *);

/* Calls the processor for each item of the run that meets the condition, and returns the number of these items. */
static size_t each(larder_fake *fake, larder_status *first, const char *name, uint32_t trigger, const char *condition,
                   per_item function, const unsigned char *scope, int counting) {
    size_t met = 0;
    for (size_t i = 0; condition && fake->evaluator && i < fake->items.count; i++) {
        const larder_item *whole = fake->items.at[i].item;
        struct copied_item lent;
        larder_status status;
        if (!scope[i] ||
            !fake->evaluator(fake->evaluator_context, larder_str_make(condition, strlen(condition)), whole))
            continue;
        if (fake->processor->max_records && fake->granted_actions >= fake->processor->max_records) return met;
        met++;
        if (counting) return met;
        lent = copy_item(whole, fake->processor->fields);
        begin_call(fake, PROCESSOR);
        status = function(fake->instance->context, trigger, lent.item);
        called(fake, first, name, trigger, whole, status);
        free_item(&lent);
    }
    return met;
}

larder_status larder_fake_run(larder_fake *fake, uint32_t trigger, const char *const *changed, size_t count) {
    const larder_item_policy_processor *p = fake->processor;
    larder_status first = LARDER_OK;
    uint32_t mask;
    unsigned char *scope;
    const char *condition;
    if (!p) return LARDER_WRONG_STATE;
    void *context = fake->instance->context;
    begin_call(fake, PROCESSOR);
    mask = p->triggers(context);
    end_call(fake, LARDER_OK);
    if (!(mask & LARDER_TRIGGER_BIT(trigger))) return LARDER_OK;
    fake->granted_actions = 0;

    fake->changed = changed;
    fake->changed_count = count;
    scope = resized(NULL, fake->items.count);
    for (size_t i = 0; i < fake->items.count; i++) {
        scope[i] = trigger != LARDER_TRIGGER_ITEMS_CHANGED;
        for (size_t k = 0; k < count && !scope[i]; k++)
            scope[i] = (unsigned char)same(fake->items.at[i].item->local_id, changed[k]);
    }

    if (fake->policies_changed) {
        /* The plugin gets copies that are freed after the call. */
        larder_policy_list list = {sizeof list, sizeof(larder_policy), NULL, fake->policies.count};
        larder_policy *policies = resized(NULL, fake->policies.count * sizeof *policies);
        for (size_t i = 0; i < fake->policies.count; i++) policies[i] = *fake->policies.at[i].policy;
        list.policies = policies;
        fake->policies_changed = 0;
        CALL(update_policies, &list);
        free(policies);
    }
    begin_call(fake, PROCESSOR);
    larder_item_cursor *cursor =
        trigger == LARDER_TRIGGER_ITEMS_CHANGED ? open_cursor(fake, NULL, p->fields) : NULL;
    called(fake, &first, "preflight", trigger, NULL, p->preflight(context, trigger, cursor));
    CALL(will_enter_trigger, trigger);
    /* After a failure the processor may not know what it has to keep. */
    int may_pass = first == LARDER_OK;
    condition = may_pass ? larder_fake_match_condition(fake) : NULL;
    if (may_pass && each(fake, &first, "perform_action", trigger, condition, p->perform_action, scope, 1)) {
        CALL(begin_matching, trigger);
        each(fake, &first, "perform_action", trigger, condition, p->perform_action, scope, 0);
        CALL(end_matching, trigger);
    }
    condition = may_pass ? larder_fake_cleanup_condition(fake) : NULL;
    if (may_pass && each(fake, &first, "perform_cleanup", trigger, condition, p->perform_cleanup, scope, 1)) {
        CALL(begin_cleanup, trigger);
        each(fake, &first, "perform_cleanup", trigger, condition, p->perform_cleanup, scope, 0);
        CALL(end_cleanup, trigger);
    }
    CALL(did_pass_trigger, trigger);
    keep_policies(fake);
    free(scope);
    fake->changed = NULL;
    fake->changed_count = 0;
    return first;
}

/* The greatest number of bytes that the host shows of what a processor says of an item. */
#define LONGEST_EXPLANATION 1024u

/* Returns the length of the text, or of the beginning of a long one, in which no character is cut. */
static uint64_t shown_length(larder_str text) {
    uint64_t length = LONGEST_EXPLANATION;
    if (text.len <= length) return text.len;
    while (length > LONGEST_EXPLANATION - 3 && (text.ptr[length] & 0xc0) == 0x80) length--;
    return length;
}

const char *larder_fake_explain(larder_fake *fake, const char *local_id) {
    larder_str text = {NULL, 0};
    larder_status status, first = LARDER_OK;
    const larder_item *whole = NULL;
    struct copied_item lent;
    free(fake->explanation);
    fake->explanation = NULL;
    for (size_t i = 0; i < fake->items.count; i++) {
        if (same(fake->items.at[i].item->local_id, local_id)) whole = fake->items.at[i].item;
    }
    if (!fake->explainer || !whole) return NULL;
    lent = copy_item(whole, fake->processor->fields);
    begin_call(fake, PROCESSOR_READING);
    status = fake->explainer->explain(fake->instance->context, lent.item, &text);
    if (status == LARDER_OK && text.ptr) {
        text.len = shown_length(text);
        if (!is_utf8(text)) status = refuse(fake, "explain", LARDER_INVALID_ARGUMENT);
    }
    if (status == LARDER_OK && text.len) fake->explanation = text_of(text);
    called(fake, &first, "explain", 0, whole, status);
    free_item(&lent);
    return fake->explanation;
}

static const char *condition_of(larder_fake *fake, const char *name, larder_status (*ask)(void *, larder_str *)) {
    larder_str text = {NULL, 0};
    larder_status status;
    begin_call(fake, PROCESSOR);
    status = ask(fake->instance->context, &text);
    check_status(fake, name, status);
    if (status == LARDER_OK && !is_utf8(text)) status = refuse(fake, name, LARDER_INVALID_ARGUMENT);
    if (status != LARDER_OK) text.ptr = NULL;
    end_call(fake, LARDER_OK);
    free(fake->condition);
    fake->condition = text.ptr ? text_of(text) : NULL;
    return fake->condition;
}

const char *larder_fake_policy_condition(larder_fake *fake) {
    return fake->processor ? condition_of(fake, "policy_condition", fake->processor->policy_condition) : NULL;
}

const char *larder_fake_match_condition(larder_fake *fake) {
    return fake->processor ? condition_of(fake, "match_condition", fake->processor->match_condition) : NULL;
}

const char *larder_fake_cleanup_condition(larder_fake *fake) {
    return fake->processor ? condition_of(fake, "cleanup_condition", fake->processor->cleanup_condition) : NULL;
}
