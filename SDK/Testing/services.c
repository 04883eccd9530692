/* The host's tables that the plugin gets. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

/* log, config, clock, cancel */

static larder_status log_write(const larder_host *host, uint32_t level, larder_str message) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "log.write", IN_ANY);
    larder_fake_entry *entry;
    if (status != LARDER_OK) return status;
    if (level > LARDER_LOG_HOST_MISBEHAVING) return refuse_unknown(fake, "log.write");
    if (!is_text(message)) return refuse(fake, "log.write", LARDER_INVALID_ARGUMENT);
    entry = record(fake, LARDER_FAKE_LOG, "write");
    entry->number = level;
    entry->text = text_of(message);
    return LARDER_OK;
}

static larder_status config_settings(const larder_host *host, larder_str *out) {
    larder_status status = enter(fake_of(host), "config.settings", IN_ANY);
    if (status == LARDER_OK)
        *out = larder_str_make(fake_of(host)->filled_settings, strlen(fake_of(host)->filled_settings));
    return status;
}

static larder_status clock_now(const larder_host *host, int64_t *out) {
    larder_status status = enter(fake_of(host), "clock.now", IN_ANY);
    if (status == LARDER_OK) *out = fake_of(host)->now;
    return status;
}

static larder_status clock_monotonic(const larder_host *host, int64_t *out) {
    larder_status status = enter(fake_of(host), "clock.monotonic", IN_ANY);
    if (status == LARDER_OK) *out = fake_of(host)->monotonic;
    return status;
}

static larder_status cancel_check(const larder_host *host) {
    larder_status status = enter(fake_of(host), "cancel.check", IN_ANY);
    return status == LARDER_OK && fake_of(host)->cancelled ? LARDER_CANCELLED : status;
}

static larder_status cancel_deadline(const larder_host *host, int64_t *out) {
    larder_status status = enter(fake_of(host), "cancel.deadline", IN_ANY);
    if (status == LARDER_OK) *out = INT64_MAX;
    return status;
}

/* items */

static int is_sortable(uint32_t sort) {
    return sort == 0 || sort == LARDER_SORT_BY(LARDER_FIELD_PATH) || sort == LARDER_SORT_BY(LARDER_FIELD_NAME)
        || sort == LARDER_SORT_BY(LARDER_FIELD_SIZE) || sort == LARDER_SORT_BY(LARDER_FIELD_LAST_MODIFIED)
        || sort == LARDER_SORT_BY(LARDER_FIELD_LAST_USED);
}

static larder_status items_open(const larder_host *host, const larder_query *given, larder_item_cursor **out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "items.open", IN_PROCESSOR);
    larder_query query;
    size_t open = 0;
    if (status != LARDER_OK) return status;
    if (!take(&query, sizeof query, given, FIRST_QUERY)) return refuse(fake, "items.open", LARDER_INVALID_ARGUMENT);
    if (!is_text(query.condition)) return refuse(fake, "items.open", LARDER_INVALID_ARGUMENT);
    if (query.flags & ~LARDER_QUERY_DESCENDING || !is_sortable(query.sort)) return refuse_unknown(fake, "items.open");
    for (size_t i = 0; i < fake->cursors.count; i++) open += !fake->cursors.at[i]->is_hosts;
    if (open >= 16) return refuse(fake, "items.open", LARDER_LIMIT);
    record(fake, LARDER_FAKE_QUERY, "open")->text = text_of(query.condition);
    *out = open_cursor(fake, &query, query.fields);
    return LARDER_OK;
}

static larder_status items_close(const larder_host *host, larder_item_cursor *cursor) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "items.close", IN_PROCESSOR);
    if (status != LARDER_OK) return status;
    for (size_t i = 0; i < fake->cursors.count; i++) {
        struct cursor *open = fake->cursors.at[i];
        if (&open->table != cursor || open->is_hosts) continue;
        fake->cursors.at[i] = fake->cursors.at[--fake->cursors.count];
        free_cursor(open);
        return LARDER_OK;
    }
    return refuse(fake, "items.close", LARDER_INVALID_ARGUMENT);
}

/* usage */

static larder_status usage_read(const larder_host *host, larder_usage_figures *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "usage.read", IN_PROCESSOR);
    if (status != LARDER_OK) return status;
    if (!is_sized(out, FIRST_USAGE_FIGURES)) return refuse(fake, "usage.read", LARDER_INVALID_ARGUMENT);
    fill(out, &fake->usage, sizeof fake->usage);
    return LARDER_OK;
}

/* policies */

static larder_status policies_list(const larder_host *host, larder_policy_list *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "policies.list", IN_PROCESSOR);
    larder_policy_list list = {0};
    if (status != LARDER_OK) return status;
    if (!is_sized(out, FIRST_POLICY_LIST)) return refuse(fake, "policies.list", LARDER_INVALID_ARGUMENT);
    fake->listed = resized(fake->listed, fake->policies.count * sizeof(larder_policy));
    for (size_t i = 0; i < fake->policies.count; i++) fake->listed[i] = *fake->policies.at[i].policy;
    list.stride = sizeof(larder_policy);
    list.policies = fake->listed;
    list.count = fake->policies.count;
    fill(out, &list, sizeof list);
    return LARDER_OK;
}

static larder_status change_policy(const larder_host *host, const char *function, const larder_policy *given,
                                   uint32_t flags) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, function, IN_PROCESSOR_WRITING);
    const char *name = strchr(function, '.') + 1;
    larder_policy copy, *policy = &copy;
    struct wish wish;
    if (status != LARDER_OK) return status;
    memset(&wish, 0, sizeof wish);
    if (flags & ~LARDER_POLICY_QUIET) return refuse_unknown(fake, function);
    if (!take(policy, sizeof *policy, given, FIRST_POLICY) || (strcmp(name, "add") && !is_text(policy->id))
        || (strcmp(name, "remove") && (!policy->condition.len || !is_text(policy->condition)))
        || !is_utf8(policy->identifier) || !is_utf8(policy->description) || !is_utf8(policy->local_id)
        || !is_utf8(policy->remove_when_none) || (policy->path.ptr && !is_path(policy->path)))
        return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    if (policy->data.len > 1048576) return refuse(fake, function, LARDER_LIMIT);
    if (strcmp(name, "add")) {
        const larder_policy *known = NULL;
        for (size_t i = 0; i < fake->policies.count; i++) {
            larder_str id = fake->policies.at[i].policy->id;
            if (id.len == policy->id.len && !memcmp(id.ptr, policy->id.ptr, id.len))
                known = fake->policies.at[i].policy;
        }
        if (!known) return LARDER_NOT_FOUND;
        if (known->revision != policy->revision) return LARDER_CONFLICT;
    }
    record_policy(fake, name, flags, policy);
    wish.name = strcmp(name, "add") == 0 ? "add" : strcmp(name, "update") == 0 ? "update" : "remove";
    wish.policy = copy_policy(policy);
    APPEND(fake->wishes, wish);
    return LARDER_OK;
}

static larder_status policies_add(const larder_host *host, const larder_policy *policy, uint32_t flags) {
    return change_policy(host, "policies.add", policy, flags);
}

static larder_status policies_update(const larder_host *host, const larder_policy *policy, uint32_t flags) {
    return change_policy(host, "policies.update", policy, flags);
}

static larder_status policies_remove(const larder_host *host, larder_str id, int64_t revision, uint32_t flags) {
    larder_policy policy;
    memset(&policy, 0, sizeof policy);
    policy.struct_size = sizeof policy;
    policy.id = id;
    policy.revision = revision;
    return change_policy(host, "policies.remove", &policy, flags);
}

/* kv */

static int has_key(const struct value *value, larder_bytes key) {
    return same(larder_str_make((const char *)key.ptr, key.len), value->key);
}

static larder_status kv_get(const larder_host *host, larder_bytes key, larder_bytes *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "kv.get", IN_PROCESSOR | IN_LOOP);
    if (status != LARDER_OK) return status;
    if (!key.len || key.len > 1024) return refuse(fake, "kv.get", LARDER_LIMIT);
    if (!key.ptr) return refuse(fake, "kv.get", LARDER_INVALID_ARGUMENT);
    /* The value that this call wrote, or the run wrote, or that was there before. */
    for (size_t i = fake->wishes.count; i-- > 0;) {
        struct value *value = &fake->wishes.at[i].value;
        if (!value->key || !has_key(value, key)) continue;
        *out = value->bytes;
        return value->bytes.ptr ? LARDER_OK : LARDER_NOT_FOUND;
    }
    for (size_t i = 0; i < fake->values.count; i++) {
        if (!has_key(&fake->values.at[i], key)) continue;
        *out = fake->values.at[i].bytes;
        return LARDER_OK;
    }
    return LARDER_NOT_FOUND;
}

/* The greatest size in bytes of the requests of a loop's turn. */
static int has_room(larder_fake *fake, uint64_t size) {
    if (!fake->loop) return 1;
    if (fake->turn_bytes + size > 16u << 20) return 0;
    fake->turn_bytes += size;
    return 1;
}

static larder_status write_value(const larder_host *host, const char *function, larder_bytes key,
                                 const larder_bytes *value) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, function, IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    uint64_t size = key.len + (value ? value->len : 0);
    larder_fake_entry *entry;
    struct wish wish;
    if (status != LARDER_OK) return status;
    if (!key.len || key.len > 1024 || (value && value->len > 1048576) || !has_room(fake, size))
        return refuse(fake, function, LARDER_LIMIT);
    if (!key.ptr || (value && !value->ptr)) return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    memset(&wish, 0, sizeof wish);
    wish.name = value ? "put" : "remove";
    wish.value = make_value(key, value);
    APPEND(fake->wishes, wish);
    entry = record(fake, LARDER_FAKE_VALUE, wish.name);
    entry->id = copied(wish.value.key);
    if (value) entry->text = text_of(larder_str_make((const char *)value->ptr, value->len));
    return LARDER_OK;
}

static larder_status kv_put(const larder_host *host, larder_bytes key, larder_bytes value) {
    return write_value(host, "kv.put", key, &value);
}

static larder_status kv_remove(const larder_host *host, larder_bytes key) {
    return write_value(host, "kv.remove", key, NULL);
}

/* The host itself. */

static const larder_log log_table = {sizeof log_table, 0, log_write};
static const larder_config config_table = {sizeof config_table, 0, config_settings};
static const larder_clock clock_table = {sizeof clock_table, 0, clock_now, clock_monotonic};
static const larder_cancel cancel_table = {sizeof cancel_table, 0, cancel_check, cancel_deadline};
static const larder_items items_table = {sizeof items_table, 0, items_open, items_close};
static const larder_usage usage_table = {sizeof usage_table, 0, usage_read};
static const larder_policies policies_table = {sizeof policies_table, 0,           policies_list, policies_add,
                                               policies_update,       policies_remove};
static const larder_kv kv_table = {sizeof kv_table, 0, kv_get, kv_put, kv_remove};

const void *service(larder_str name) {
    static const struct {
        const char *name;
        const void *table;
    } offered[] = {
        {LARDER_EXT_LOG, &log_table},           {LARDER_EXT_CONFIG, &config_table},
        {LARDER_EXT_CLOCK, &clock_table},       {LARDER_EXT_ITEMS, &items_table},
        {LARDER_EXT_ACTIONS, &actions_table},   {LARDER_EXT_POLICIES, &policies_table},
        {LARDER_EXT_KV, &kv_table},             {LARDER_EXT_CANCEL, &cancel_table},
        {LARDER_EXT_USAGE, &usage_table},       {LARDER_EXT_RECORDS, &records_table},
        {LARDER_EXT_HTTP, &http_table},         {LARDER_EXT_DAV, &dav_table},
        {LARDER_EXT_DISCOVER, &discover_table}, {LARDER_EXT_PROJECTS, &projects_table},
    };
    for (size_t i = 0; i < sizeof offered / sizeof *offered; i++) {
        if (same(name, offered[i].name)) return offered[i].table;
    }
    return NULL;
}

static const void *host_extension(const larder_host *host, larder_str name) {
    larder_fake *fake = fake_of(host);
    char *padded;
    int is_named;
    if (enter(fake, "extension", IN_ANY) != LARDER_OK) return NULL;
    if (!is_text(name)) {
        refuse(fake, "extension", LARDER_INVALID_ARGUMENT);
        return NULL;
    }
    padded = resized(NULL, name.len + 3);
    padded[0] = ' ';
    memcpy(padded + 1, name.ptr, name.len);
    memcpy(padded + 1 + name.len, " ", 2);
    is_named = strstr(fake->services, padded) != NULL;
    free(padded);
    if (!is_named) {
        larder_fake_entry *entry = record(fake, LARDER_FAKE_MISTAKE, "extension");
        entry->status = LARDER_DENIED;
        entry->text = text_of(name);
        return NULL;
    }
    for (size_t i = 0; i < fake->withheld.count; i++) {
        if (same(name, fake->withheld.at[i])) return NULL;
    }
    return service(name);
}

static void host_fail(const larder_host *host, larder_status status, larder_str message) {
    larder_fake *fake = fake_of(host);
    larder_fake_entry *entry;
    if (enter(fake, "fail", IN_EVERY_CALL) != LARDER_OK) return;
    if (!is_text(message)) {
        refuse(fake, "fail", LARDER_INVALID_ARGUMENT);
        return;
    }
    entry = record(fake, LARDER_FAKE_FAILURE, "fail");
    entry->status = status;
    entry->text = text_of(message);
}

void fill_host(larder_fake *fake) {
    fake->host.struct_size = sizeof fake->host;
    fake->host.abi_minor = LARDER_ABI_MINOR;
    fake->host.context = fake;
    fake->host.extension = host_extension;
    fake->host.fail = host_fail;
}
