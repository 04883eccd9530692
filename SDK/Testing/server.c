/* The account's server, with the answers of the test. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

static struct script *begin_script(larder_fake *fake, int is_dav, const char *method, const char *target,
                                   uint32_t status) {
    struct script made;
    memset(&made, 0, sizeof made);
    made.is_dav = is_dav;
    made.method = copied(method);
    made.target = copied(target);
    made.status = status;
    APPEND(fake->scripts, made);
    return &fake->scripts.at[fake->scripts.count - 1];
}

static struct script *last_script(larder_fake *fake) {
    return fake->scripts.count ? &fake->scripts.at[fake->scripts.count - 1] : NULL;
}

void larder_fake_answer(larder_fake *fake, const char *method, const char *target, uint32_t status, const char *body) {
    begin_script(fake, 0, method, target, status);
    if (body && *body) larder_fake_answer_chunk(fake, body, strlen(body));
}

void larder_fake_answer_header(larder_fake *fake, const char *name, const char *value) {
    struct header made = {copied(name), copied(value)};
    if (last_script(fake)) APPEND(last_script(fake)->headers, made);
}

void larder_fake_answer_chunk(larder_fake *fake, const void *bytes, size_t length) {
    larder_str chunk = larder_str_make(text_of(larder_str_make(bytes, length)), length);
    if (last_script(fake)) APPEND(last_script(fake)->chunks, chunk);
}

void larder_fake_answer_dav(larder_fake *fake, const char *method, const char *target, uint32_t status) {
    begin_script(fake, 1, method, target, status);
}

void larder_fake_response(larder_fake *fake, const char *href, uint32_t status, const char *error) {
    struct response made;
    memset(&made, 0, sizeof made);
    made.href = copied(href);
    made.status = status;
    made.error = error ? copied(error) : NULL;
    if (last_script(fake)) APPEND(last_script(fake)->responses, made);
}

void larder_fake_property(larder_fake *fake, const char *name, const char *text) {
    struct header made = {copied(name), copied(text)};
    struct script *script = last_script(fake);
    if (script && script->responses.count) APPEND(script->responses.at[script->responses.count - 1].values, made);
}

void larder_fake_end_dav(larder_fake *fake, const char *sync_token, uint32_t truncated, const char *error) {
    struct script *script = last_script(fake);
    if (!script) return;
    script->sync_token = sync_token ? copied(sync_token) : NULL;
    script->truncated = truncated;
    script->error = error ? copied(error) : NULL;
}

void larder_fake_break_answer(larder_fake *fake, larder_status status) {
    if (last_script(fake)) last_script(fake)->breaks = status;
}

void larder_fake_fail_request(larder_fake *fake, larder_status status) {
    if (last_script(fake)) last_script(fake)->fails = status;
}

size_t larder_fake_under_way(const larder_fake *fake) {
    size_t count = 0;
    for (size_t i = 0; i < fake->answers.count; i++) count += !fake->answers.at[i]->is_read;
    return count;
}

void larder_fake_serve_with(larder_fake *fake, larder_fake_server server, void *context) {
    fake->server = server;
    fake->server_context = context;
}

size_t larder_fake_unasked(const larder_fake *fake) { return fake->scripts.count; }

void larder_fake_files_home(larder_fake *fake, const char *home) {
    free(fake->files_home);
    fake->files_home = home ? copied(home) : NULL;
}

void larder_fake_homes(larder_fake *fake, const char *principal, const char *const *homes, size_t count) {
    free(fake->principal);
    fake->principal = principal ? copied(principal) : NULL;
    for (size_t i = 0; i < fake->homes.count; i++) free(fake->homes.at[i]);
    fake->homes.count = 0;
    for (size_t i = 0; i < count; i++) {
        char *home = copied(homes[i]);
        APPEND(fake->homes, home);
    }
}

static int find_script(larder_fake *fake, int is_dav, const char *method, const char *target, struct script *out) {
    for (size_t i = 0; i < fake->scripts.count; i++) {
        struct script *script = &fake->scripts.at[i];
        if (script->is_dav != is_dav || strcmp(script->method, method) || strcmp(script->target, target)) continue;
        *out = *script;
        fake->scripts.count--;
        memmove(script, script + 1, (fake->scripts.count - i) * sizeof *script);
        return 1;
    }
    return 0;
}

int take_script(larder_fake *fake, int is_dav, const char *method, const char *target, const char *body,
                struct script *out) {
    if (find_script(fake, is_dav, method, target, out)) return 1;
    if (!fake->server) return 0;
    fake->server(fake->server_context, method, target, body);
    return find_script(fake, is_dav, method, target, out);
}

static void free_headers(struct header *headers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free(headers[i].name);
        free(headers[i].value);
    }
    free(headers);
}

void free_script(struct script *script) {
    free(script->method);
    free(script->target);
    free(script->sync_token);
    free(script->error);
    free_headers(script->headers.at, script->headers.count);
    for (size_t i = 0; i < script->chunks.count; i++) free((void *)(uintptr_t)script->chunks.at[i].ptr);
    free(script->chunks.at);
    for (size_t i = 0; i < script->responses.count; i++) {
        struct response *response = &script->responses.at[i];
        free(response->href);
        free(response->error);
        free_headers(response->values.at, response->values.count);
    }
    free(script->responses.at);
    memset(script, 0, sizeof *script);
}

void free_server(larder_fake *fake) {
    larder_fake_homes(fake, NULL, NULL, 0);
    larder_fake_files_home(fake, NULL);
    for (size_t i = 0; i < fake->scripts.count; i++) free_script(&fake->scripts.at[i]);
    free(fake->scripts.at);
    free(fake->homes.at);
}
