/* larder.http/1, larder.dav/1 and larder.discover/1. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The greatest number of headers of a request. */
#define MOST_HEADERS 64u

/* Records a request and finds its answer. */
static larder_status ask(larder_fake *fake, const char *function, int is_dav, larder_str method, larder_str target,
                         uint32_t depth, larder_str body, struct answer **out) {
    size_t open = 0;
    larder_fake_entry *entry;
    struct answer *made;
    struct script script;
    char *verb, *path, *text;
    int found;
    if (!method.len || !target.len || !is_text(method) || !is_text(target))
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

void free_answers(larder_fake *fake) {
    close_answers(fake);
    free(fake->answers.at);
    free(fake->lent_homes);
}

/* http */

static larder_status http_header(larder_http_answer *table, larder_str name, larder_str *out) {
    struct answer *answer = table->context;
    larder_status status = enter(answer->fake, "http_answer.header", IN_LOOP);
    if (status != LARDER_OK) return status;
    if (!is_text(name)) return refuse(answer->fake, "http_answer.header", LARDER_INVALID_ARGUMENT);
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
    static const char *const hosts[] = {
        "authorization", "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
        "trailer", "expect", "proxy-authorization", "proxy-connection", "user-agent", "accept-encoding",
        "x-request-id"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        if (strlen(hosts[i]) == name.len && !strncasecmp(hosts[i], name.ptr, name.len)) return 1;
    }
    return 0;
}

static int is_method(larder_str method) {
    static const char *const methods[] = {"COPY", "DELETE", "GET", "HEAD", "MKCALENDAR", "MKCOL", "MOVE", "OPTIONS",
                                           "PATCH", "POST", "PROPFIND", "PROPPATCH", "PUT", "REPORT", "SEARCH"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (same(method, methods[i])) return 1;
    }
    return 0;
}

/* Tells whether a header can be sent unchanged. */
static int is_sendable(const larder_http_header *header) {
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (uint64_t i = 0; i < header->name.len; i++) {
        if (!memchr(token, header->name.ptr[i], sizeof token - 1)) return 0;
    }
    for (uint64_t i = 0; i < header->value.len; i++) {
        unsigned char byte = (unsigned char)header->value.ptr[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f) return 0;
    }
    return header->name.len != 0;
}

static larder_status http_open(const larder_host *host, const larder_http_request *given, larder_http_answer **out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "http.open", IN_LOOP);
    larder_http_request request;
    struct answer *answer = NULL;
    if (status != LARDER_OK) return status;
    if (!take(&request, sizeof request, given, FIRST_HTTP_REQUEST)
        || (request.header_count && (!request.headers || request.header_stride < FIRST_HTTP_HEADER)))
        return refuse(fake, "http.open", LARDER_INVALID_ARGUMENT);
    if (request.header_count > MOST_HEADERS) return refuse(fake, "http.open", LARDER_LIMIT);
    for (uint64_t i = 0; i < request.header_count; i++) {
        const larder_http_header *header = (const void *)((const char *)request.headers + i * request.header_stride);
        if (!is_text(header->name) || !is_text(header->value))
            return refuse(fake, "http.open", LARDER_INVALID_ARGUMENT);
        if (is_hosts(header->name) || !is_sendable(header)) return refuse(fake, "http.open", LARDER_DENIED);
    }
    if (is_text(request.method) && !is_method(request.method)) return refuse(fake, "http.open", LARDER_DENIED);
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
    larder_dav_end end = {0};
    if (status != LARDER_OK) return status;
    if (!is_sized(out, FIRST_DAV_END)) return refuse(answer->fake, "dav_answer.end", LARDER_INVALID_ARGUMENT);
    if (answer->next <= script->responses.count || script->breaks)
        return refuse(answer->fake, "dav_answer.end", LARDER_WRONG_STATE);
    end.truncated = script->truncated;
    end.sync_token.ptr = script->sync_token;
    end.sync_token.len = script->sync_token ? strlen(script->sync_token) : 0;
    end.error.ptr = script->error;
    end.error.len = script->error ? strlen(script->error) : 0;
    fill(out, &end, sizeof end);
    return LARDER_OK;
}

static larder_status dav_open(const larder_host *host, const larder_dav_request *given, larder_dav_answer **out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "dav.open", IN_LOOP);
    larder_dav_request request;
    struct answer *answer = NULL;
    if (status != LARDER_OK) return status;
    if (!take(&request, sizeof request, given, FIRST_DAV_REQUEST))
        return refuse(fake, "dav.open", LARDER_INVALID_ARGUMENT);
    if (request.depth > 1 || !is_utf8(request.body) || (request.property_count && !request.properties)
        || (!same(request.method, "PROPFIND") && (!same(request.method, "REPORT") || !request.body.ptr)))
        return refuse(fake, "dav.open", LARDER_INVALID_ARGUMENT);
    if (request.property_count > 64) return refuse(fake, "dav.open", LARDER_LIMIT);
    if (request.flags & ~LARDER_DAV_AHEAD) return refuse_unknown(fake, "dav.open");
    for (uint64_t i = 0; i < request.property_count; i++) {
        larder_str name = request.properties[i];
        if (!is_text(name) || !name.len || name.ptr[0] != '{' || !memchr(name.ptr, '}', name.len))
            return refuse(fake, "dav.open", LARDER_INVALID_ARGUMENT);
    }
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
    larder_discovery found = {0};
    if (status != LARDER_OK) return status;
    if (!is_sized(out, FIRST_DISCOVERY) || !is_text(service) || !(same(service, "caldav") || same(service, "files")))
        return refuse(fake, "discover.find", LARDER_INVALID_ARGUMENT);
    if (same(service, "files")) {
        if (!fake->files_home) return LARDER_UNSUPPORTED;
        fake->lent_homes = resized(fake->lent_homes, sizeof *fake->lent_homes);
        fake->lent_homes[0] = larder_str_make(fake->files_home, strlen(fake->files_home));
        found.homes = fake->lent_homes;
        found.home_count = 1;
        fill(out, &found, sizeof found);
        return LARDER_OK;
    }
    record(fake, LARDER_FAKE_REQUEST, "discover")->path = text_of(service);
    if (!fake->homes.count) return LARDER_UNSUPPORTED;
    fake->lent_homes = resized(fake->lent_homes, fake->homes.count * sizeof *fake->lent_homes);
    for (size_t i = 0; i < fake->homes.count; i++)
        fake->lent_homes[i] = larder_str_make(fake->homes.at[i], strlen(fake->homes.at[i]));
    found.principal = larder_str_make(fake->principal, strlen(fake->principal));
    found.homes = fake->lent_homes;
    found.home_count = fake->homes.count;
    fill(out, &found, sizeof found);
    return LARDER_OK;
}

const larder_discover discover_table = {sizeof discover_table, 0, discover_find};
