/* larder.http/1, larder.dav/1 and larder.discover/1. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Writes a request down and finds its answer. */
static larder_status ask(larder_fake *fake, const char *function, int is_dav, larder_str method, larder_str target,
                         uint32_t depth, larder_str body, struct answer **out) {
    size_t open = 0;
    larder_fake_entry *entry;
    struct answer *made;
    struct script script;
    char *verb, *path, *text;
    int found;
    if (!method.len || !target.len || !is_utf8(method) || !is_utf8(target))
        return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    for (size_t i = 0; i < fake->answers.count; i++) open += fake->answers.at[i]->script.is_dav == is_dav;
    if (open >= 4) return refuse(fake, function, LARDER_LIMIT);
    verb = text_of(method);
    path = text_of(target);
    text = text_of(body);
    entry = record(fake, LARDER_FAKE_REQUEST, verb);
    entry->number = depth;
    entry->path = copied(path);
    entry->text = body.ptr ? copied(text) : NULL;
    found = take_script(fake, is_dav, verb, path, text, &script);
    free(verb);
    free(path);
    free(text);
    if (!found) return refuse(fake, function, LARDER_IO);
    made = resized(NULL, sizeof *made);
    memset(made, 0, sizeof *made);
    made->fake = fake;
    made->script = script;
    APPEND(fake->answers, made);
    *out = made;
    return LARDER_OK;
}

static void free_answer(struct answer *answer) {
    free_script(&answer->script);
    for (size_t i = 0; i < answer->properties.count; i++) free((void *)(uintptr_t)answer->properties.at[i].ptr);
    free(answer->properties.at);
    free(answer->values);
    free(answer);
}

static larder_status close_answer(larder_fake *fake, const char *function, const void *table) {
    larder_status status = enter(fake, function, IN_LOOP);
    if (status != LARDER_OK) return status;
    for (size_t i = 0; i < fake->answers.count; i++) {
        struct answer *open = fake->answers.at[i];
        if ((const void *)&open->http != table && (const void *)&open->dav != table) continue;
        fake->answers.at[i] = fake->answers.at[--fake->answers.count];
        free_answer(open);
        return LARDER_OK;
    }
    return refuse(fake, function, LARDER_INVALID_ARGUMENT);
}

void close_answers(larder_fake *fake) {
    for (size_t i = 0; i < fake->answers.count; i++) free_answer(fake->answers.at[i]);
    fake->answers.count = 0;
}

/* http */

static larder_status http_header(larder_http_answer *table, larder_str name, larder_str *out) {
    struct answer *answer = table->context;
    larder_status status = enter(answer->fake, "http_answer.header", IN_LOOP);
    if (status != LARDER_OK) return status;
    for (size_t i = 0; i < answer->script.headers.count; i++) {
        const struct header *header = &answer->script.headers.at[i];
        if (strlen(header->name) != name.len || strncasecmp(header->name, name.ptr, name.len)) continue;
        *out = larder_str_make(header->value, strlen(header->value));
        return LARDER_OK;
    }
    return LARDER_NOT_FOUND;
}

static larder_status http_read(larder_http_answer *table, larder_bytes *out) {
    struct answer *answer = table->context;
    larder_status status = enter(answer->fake, "http_answer.read", IN_LOOP);
    out->ptr = NULL;
    out->len = 0;
    if (status != LARDER_OK) return status;
    if (answer->fake->cancelled) return LARDER_CANCELLED;
    if (answer->next >= answer->script.chunks.count) {
        answer->is_read = 1;
        return answer->script.breaks;
    }
    out->ptr = (const uint8_t *)answer->script.chunks.at[answer->next].ptr;
    out->len = answer->script.chunks.at[answer->next++].len;
    return LARDER_OK;
}

static int is_hosts(larder_str name) {
    static const char *const hosts[] = {"authorization", "host", "content-length", "connection", "transfer-encoding"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        if (strlen(hosts[i]) == name.len && !strncasecmp(hosts[i], name.ptr, name.len)) return 1;
    }
    return 0;
}

static larder_status http_open(const larder_host *host, const larder_http_request *given, larder_http_answer **out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "http.open", IN_LOOP);
    larder_http_request request;
    struct answer *answer = NULL;
    if (status != LARDER_OK) return status;
    memset(&request, 0, sizeof request);
    memcpy(&request, given, given->struct_size < sizeof request ? given->struct_size : sizeof request);
    for (uint64_t i = 0; i < request.header_count; i++) {
        const larder_http_header *header = (const void *)((const char *)request.headers + i * request.header_stride);
        if (is_hosts(header->name)) return refuse(fake, "http.open", LARDER_DENIED);
    }
    status = ask(fake, "http.open", 0, request.method, request.target, 0,
                 larder_str_make((const char *)request.body.ptr, request.body.len), &answer);
    if (status != LARDER_OK) return status;
    if (answer->script.fails) {
        status = answer->script.fails;
        close_answer(fake, "http.open", &answer->http);
        return status;
    }
    answer->http.struct_size = sizeof answer->http;
    answer->http.status = answer->script.status;
    answer->http.context = answer;
    answer->http.header = http_header;
    answer->http.read = http_read;
    *out = &answer->http;
    return LARDER_OK;
}

static larder_status http_close(const larder_host *host, larder_http_answer *answer) {
    return close_answer(fake_of(host), "http.close", answer);
}

const larder_http http_table = {sizeof http_table, 0, http_open, http_close};

/* dav */

static larder_status dav_next(larder_dav_answer *table, const larder_dav_response **out) {
    struct answer *answer = table->context;
    larder_status status = enter(answer->fake, "dav_answer.next", IN_LOOP);
    const struct response *response;
    *out = NULL;
    if (status != LARDER_OK) return status;
    if (answer->fake->cancelled) return LARDER_CANCELLED;
    if (answer->script.fails) return answer->script.fails;
    answer->dav.status = answer->script.status;
    if (answer->next >= answer->script.responses.count || answer->script.status != 207) {
        answer->next = answer->script.responses.count + 1;
        answer->is_read = 1;
        return answer->script.breaks;
    }
    response = &answer->script.responses.at[answer->next++];
    memset(answer->values, 0, (answer->properties.count + 1) * sizeof *answer->values);
    for (size_t i = 0; i < answer->properties.count; i++) {
        for (size_t k = 0; k < response->values.count; k++) {
            const struct header *value = &response->values.at[k];
            if (same(answer->properties.at[i], value->name))
                answer->values[i] = larder_str_make(value->value, strlen(value->value));
        }
    }
    answer->shown.status = response->status;
    answer->shown.href = larder_str_make(response->href, strlen(response->href));
    answer->shown.values = answer->values;
    answer->shown.value_count = answer->properties.count;
    answer->shown.error.ptr = response->error;
    answer->shown.error.len = response->error ? strlen(response->error) : 0;
    *out = &answer->shown;
    return LARDER_OK;
}

static larder_status dav_end(larder_dav_answer *table, larder_dav_end *out) {
    struct answer *answer = table->context;
    const struct script *script = &answer->script;
    larder_status status = enter(answer->fake, "dav_answer.end", IN_LOOP);
    if (status != LARDER_OK) return status;
    if (out->struct_size < sizeof *out) return refuse(answer->fake, "dav_answer.end", LARDER_INVALID_ARGUMENT);
    if (answer->next <= script->responses.count || script->breaks)
        return refuse(answer->fake, "dav_answer.end", LARDER_WRONG_STATE);
    out->truncated = script->truncated;
    out->sync_token.ptr = script->sync_token;
    out->sync_token.len = script->sync_token ? strlen(script->sync_token) : 0;
    out->error.ptr = script->error;
    out->error.len = script->error ? strlen(script->error) : 0;
    return LARDER_OK;
}

static larder_status dav_open(const larder_host *host, const larder_dav_request *given, larder_dav_answer **out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "dav.open", IN_LOOP);
    larder_dav_request request;
    struct answer *answer = NULL;
    if (status != LARDER_OK) return status;
    memset(&request, 0, sizeof request);
    memcpy(&request, given, given->struct_size < sizeof request ? given->struct_size : sizeof request);
    if (request.depth > 1 || request.property_count > 64 || (request.flags & ~LARDER_DAV_AHEAD)
        || (!same(request.method, "PROPFIND") && (!same(request.method, "REPORT") || !request.body.ptr)))
        return refuse(fake, "dav.open", LARDER_INVALID_ARGUMENT);
    status = ask(fake, "dav.open", 1, request.method, request.target, request.depth, request.body, &answer);
    if (status != LARDER_OK) return status;
    if (answer->script.fails && !(request.flags & LARDER_DAV_AHEAD)) {
        status = answer->script.fails;
        close_answer(fake, "dav.open", &answer->dav);
        return status;
    }
    for (uint64_t i = 0; i < request.property_count; i++) {
        larder_str name = larder_str_make(text_of(request.properties[i]), request.properties[i].len);
        APPEND(answer->properties, name);
    }
    answer->values = resized(NULL, (answer->properties.count + 1) * sizeof *answer->values);
    answer->shown.struct_size = sizeof answer->shown;
    answer->dav.struct_size = sizeof answer->dav;
    if (!(request.flags & LARDER_DAV_AHEAD)) answer->dav.status = answer->script.status;
    answer->dav.context = answer;
    answer->dav.next = dav_next;
    answer->dav.end = dav_end;
    *out = &answer->dav;
    return LARDER_OK;
}

static larder_status dav_close(const larder_host *host, larder_dav_answer *answer) {
    return close_answer(fake_of(host), "dav.close", answer);
}

const larder_dav dav_table = {sizeof dav_table, 0, dav_open, dav_close};

/* discover */

static larder_status discover_find(const larder_host *host, larder_str service, larder_discovery *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "discover.find", IN_LOOP);
    if (status != LARDER_OK) return status;
    if (out->struct_size < sizeof *out || !(same(service, "caldav") || same(service, "files")))
        return refuse(fake, "discover.find", LARDER_INVALID_ARGUMENT);
    if (same(service, "files")) {
        if (!fake->files_home) return LARDER_UNSUPPORTED;
        fake->lent_homes = resized(fake->lent_homes, sizeof *fake->lent_homes);
        fake->lent_homes[0] = larder_str_make(fake->files_home, strlen(fake->files_home));
        out->homes = fake->lent_homes;
        out->home_count = 1;
        return LARDER_OK;
    }
    record(fake, LARDER_FAKE_REQUEST, "discover")->path = text_of(service);
    if (!fake->homes.count) return LARDER_UNSUPPORTED;
    fake->lent_homes = resized(fake->lent_homes, fake->homes.count * sizeof *fake->lent_homes);
    for (size_t i = 0; i < fake->homes.count; i++)
        fake->lent_homes[i] = larder_str_make(fake->homes.at[i], strlen(fake->homes.at[i]));
    out->principal = larder_str_make(fake->principal, strlen(fake->principal));
    out->homes = fake->lent_homes;
    out->home_count = fake->homes.count;
    return LARDER_OK;
}

const larder_discover discover_table = {sizeof discover_table, 0, discover_find};
