/* helper.h: what many plugins in C need beside the interface.
 *
 * No-ops for a processor's table, a table of the usual parts, settings by their names, and texts in conditions. larder.h
 * does not include this header, and nothing in it is part of the ABI. It needs <string.h> and single.h. It allocates
 * no memory.
 *
 * Example:
 *
 *     struct rare {
 *         larder_instance instance;
 *         const larder_host *host;
 *         const larder_config *config;
 *         const larder_actions *actions;
 *         char condition[600];
 *     };
 *
 *     static larder_status start(void *context) {
 *         struct rare *self = (struct rare *)context;
 *         char folder[128];
 *         size_t at;
 *         larder_status status;
 *         self->config = (const larder_config *)self->host->extension(self->host, LARDER_STR(LARDER_EXT_CONFIG));
 *         self->actions = (const larder_actions *)self->host->extension(self->host, LARDER_STR(LARDER_EXT_ACTIONS));
 *         if (!self->config || !self->actions) return LARDER_UNSUPPORTED;
 *         status = larder_setting_text(self->host, self->config, "folder", folder, sizeof folder);
 *         if (status != LARDER_OK) return status;
 *         memcpy(self->condition, "parentPath == ", 14);
 *         at = 14 + larder_quote(larder_str_make(folder, strlen(folder)), self->condition + 14,
 *                                sizeof self->condition - 14);
 *         return at < sizeof self->condition ? LARDER_OK : LARDER_LIMIT;
 *     }
 *
 *     static larder_status wanted(void *context, larder_str *out) {
 *         *out = larder_str_make(((struct rare *)context)->condition, strlen(((struct rare *)context)->condition));
 *         return LARDER_OK;
 *     }
 *
 *     static larder_status download(void *context, uint32_t trigger, const larder_item *item) {
 *         struct rare *self = (struct rare *)context;
 *         (void)trigger;
 *         return self->actions->download(self->host, item->local_id, 0, larder_str_make(NULL, 0));
 *     }
 *
 *     static const larder_item_policy_processor processor =
 *         LARDER_PROCESSOR("rare", LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID), wanted, download, larder_no_condition,
 *                          larder_no_item);
 */
#ifndef LARDER_HELPER_H
#define LARDER_HELPER_H

#include "base.h"
#include "ext/config.h"
#include "ext/processor.h"
#include "host.h"
#include "item.h"
#include "policy.h"
#include "single.h"
#include "trigger.h"

#include <string.h>

/* Makes the initializer of a processor's table: a larder_item_policy_processor that uses all triggers, covers nothing by
 * itself, and has a condition and a function for matching and for cleanup. For the two that it does not need, it passes
 * larder_no_condition and larder_no_item. */
#define LARDER_PROCESSOR(kind, fields, match_condition, perform_action, cleanup_condition, perform_cleanup)            \
    {sizeof(larder_item_policy_processor),                                                                             \
     0,                                                                                                                \
     LARDER_TEXT(kind),                                                                                                \
     fields,                                                                                                           \
     larder_all_triggers,                                                                                              \
     larder_no_condition,                                                                                              \
     match_condition,                                                                                                  \
     cleanup_condition,                                                                                                \
     larder_no_policies,                                                                                               \
     larder_no_preflight,                                                                                              \
     larder_no_step,                                                                                                   \
     larder_no_step,                                                                                                   \
     perform_action,                                                                                                   \
     larder_no_step,                                                                                                   \
     larder_no_step,                                                                                                   \
     perform_cleanup,                                                                                                  \
     larder_no_step,                                                                                                   \
     larder_no_step,                                                                                                   \
     0}

LARDER_BEGIN

/* Functions of a processor that do nothing, for the places of its table that it does not need. */
static inline uint32_t larder_all_triggers(void *LARDER_NULLABLE context) {
    (void)context;
    return LARDER_TRIGGERS_ALL;
}

static inline larder_status larder_no_condition(void *LARDER_NULLABLE context, larder_str *out) {
    (void)context;
    (void)out;
    return LARDER_OK;
}

static inline larder_status larder_no_policies(void *LARDER_NULLABLE context, const larder_policy_list *policies) {
    (void)context;
    (void)policies;
    return LARDER_OK;
}

static inline larder_status larder_no_preflight(void *LARDER_NULLABLE context, uint32_t trigger,
                                                larder_item_cursor *LARDER_NULLABLE changed) {
    (void)context;
    (void)trigger;
    (void)changed;
    return LARDER_OK;
}

static inline larder_status larder_no_step(void *LARDER_NULLABLE context, uint32_t trigger) {
    (void)context;
    (void)trigger;
    return LARDER_OK;
}

static inline larder_status larder_no_item(void *LARDER_NULLABLE context, uint32_t trigger, const larder_item *item) {
    (void)context;
    (void)trigger;
    (void)item;
    return LARDER_OK;
}

/* Writes a text as a condition has it: in quotes, with a backslash before what would end it. Like snprintf, it writes at
 * most `room` bytes, the last of which is 0, and returns the length that all of it has. The text was cut if that is not
 * less than `room`. */
static inline size_t larder_quote(larder_str text, char *out, size_t room) {
    static const char digits[] = "0123456789abcdef";
    size_t length = 0;
    uint64_t i, k, count;
    for (i = 0; i <= text.len + 1; i++) {
        char part[4];
        unsigned char byte = i > 0 && i <= text.len ? (unsigned char)text.ptr[i - 1] : 0;
        if (i == 0 || i > text.len) {
            part[0] = '"';
            count = 1;
        } else if (byte == '"' || byte == '\\') {
            part[0] = '\\';
            part[1] = (char)byte;
            count = 2;
        } else if (byte < 0x20 || byte == 0x7f) {
            part[0] = '\\';
            part[1] = 'x';
            part[2] = digits[byte >> 4];
            part[3] = digits[byte & 15];
            count = 4;
        } else {
            part[0] = (char)byte;
            count = 1;
        }
        for (k = 0; k < count; k++, length++)
            if (length + 1 < room) out[length] = part[k];
    }
    if (room > 0) out[length < room ? length : room - 1] = 0;
    return length;
}

/* A character of a JSON string, as UTF-8, and where the next one begins. */
typedef struct larder_json_character {
    const char *next;
    uint32_t count; /* of the bytes; 0 at the end of the string */
    char bytes[4];
} larder_json_character;

/* Reads the character of a JSON string that begins at a place, behind its opening quote. At the closing quote it goes
 * behind that. */
static inline larder_json_character larder_json_next(const char *at, const char *end) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    larder_json_character read = {at, 0, {0, 0, 0, 0}};
    uint32_t number = 0;
    const char *name;
    int i, units;
    if (at == end) return read;
    read.next = at + 1;
    if (*at == '"') return read;
    read.count = 1;
    read.bytes[0] = *at;
    if (*at != '\\' || end - at < 2) return read;
    name = at[1] ? strchr(names, at[1]) : NULL;
    if (name) {
        read.next = at + 2;
        read.bytes[0] = values[name - names];
        return read;
    }
    /* \uXXXX, and two of them for a character beyond 0xffff. */
    for (units = 0; units < 2 && end - at >= 6 && at[0] == '\\' && at[1] == 'u'; at += 6) {
        uint32_t unit = 0;
        for (i = 2; i < 6; i++) {
            unsigned char digit = (unsigned char)at[i];
            unit = unit << 4 | (uint32_t)(digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10);
        }
        number = units++ == 0 ? unit : 0x10000 + ((number & 0x3ff) << 10) + (unit & 0x3ff);
        read.next = at + 6;
        if (number < 0xd800 || number > 0xdbff) break;
    }
    if (units == 0) return read;
    if (number < 0x80) {
        read.bytes[0] = (char)number;
        return read;
    }
    read.count = number < 0x800 ? 2 : number < 0x10000 ? 3 : 4;
    for (i = (int)read.count - 1; i > 0; i--, number >>= 6) read.bytes[i] = (char)(0x80 | (number & 0x3f));
    read.bytes[0] = (char)((read.count == 2 ? 0xc0 : read.count == 3 ? 0xe0 : 0xf0) | number);
    return read;
}

static inline const char *larder_json_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

/* Returns the end of the JSON value that begins at a place. */
static inline const char *larder_json_value(const char *at, const char *end) {
    size_t depth = 0;
    while (at < end) {
        char first = *at;
        if (first == '"') {
            larder_json_character read = larder_json_next(at + 1, end);
            while (read.count > 0) read = larder_json_next(read.next, end);
            at = read.next;
            if (depth == 0) return at;
        } else if (first == '{' || first == '[') {
            depth++;
            at++;
        } else if (first == '}' || first == ']' || (depth == 0 && (first == ',' || first <= ' '))) {
            if (depth == 0) return at;
            at++;
            if (--depth == 0) return at;
        } else {
            at++;
        }
    }
    return at;
}

/* Finds the JSON of a member of a JSON object by its name. Returns LARDER_NOT_FOUND if there is no such member or it is
 * null. */
static inline larder_status larder_json_member(larder_str object, const char *name, larder_str *out) {
    const char *at = object.ptr, *end = at + object.len;
    at = larder_json_blanks(at, end);
    if (at == end || *at != '{') return LARDER_NOT_FOUND;
    at++;
    while ((at = larder_json_blanks(at, end)) < end && *at == '"') {
        const char *rest = name, *from;
        larder_json_character read;
        int same = 1;
        for (read = larder_json_next(at + 1, end); read.count > 0; read = larder_json_next(read.next, end)) {
            same = same && strlen(rest) >= read.count && memcmp(rest, read.bytes, read.count) == 0;
            if (same) rest += read.count;
        }
        at = larder_json_blanks(read.next, end);
        if (at == end || *at != ':') return LARDER_NOT_FOUND;
        from = larder_json_blanks(at + 1, end);
        at = larder_json_value(from, end);
        if (same && *rest == 0) {
            *out = larder_str_make(from, (uint64_t)(at - from));
            if (out->len == 0 || (out->len == 4 && memcmp(from, "null", 4) == 0)) return LARDER_NOT_FOUND;
            return LARDER_OK;
        }
        at = larder_json_blanks(at, end);
        if (at < end && *at == ',') at++;
    }
    return LARDER_NOT_FOUND;
}

/* Takes the next item of a JSON list. `*rest` is the list's JSON before the first call, and what is left of it after each
 * one. Returns 1 and sets `*item` to the item's JSON, or returns 0 past the last one or if it is no list:
 *
 *     while (larder_json_item(&rest, &size))
 *         if (larder_json_member(size, "above", &json) == LARDER_OK) status = larder_json_integer(json, &above);
 */
static inline int larder_json_item(larder_str *rest, larder_str *item) {
    const char *end = rest->ptr + rest->len, *from = larder_json_blanks(rest->ptr, end), *to;
    if (from == end || (*from != '[' && *from != ',')) return 0;
    from = larder_json_blanks(from + 1, end);
    to = larder_json_value(from, end);
    if (to == from) return 0;
    *item = larder_str_make(from, (uint64_t)(to - from));
    to = larder_json_blanks(to, end);
    *rest = larder_str_make(to, (uint64_t)(end - to));
    return 1;
}

/* Reads JSON that is a whole number. Returns LARDER_INVALID_ARGUMENT if it is something else. */
static inline larder_status larder_json_integer(larder_str json, int64_t *out) {
    uint64_t i = 0, number = 0, limit = INT64_MAX;
    if (json.len > 0 && json.ptr[0] == '-') {
        limit++;
        i++;
    }
    if (i == json.len) return LARDER_INVALID_ARGUMENT;
    for (; i < json.len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)json.ptr[i] - '0';
        if (digit > 9 || number > (limit - digit) / 10) return LARDER_INVALID_ARGUMENT;
        number = number * 10 + digit;
    }
    *out = json.ptr[0] != '-' ? (int64_t)number : number == 0 ? 0 : -(int64_t)(number - 1) - 1;
    return LARDER_OK;
}

/* Reads JSON that is true or false, as 1 or 0. Returns as larder_json_integer. */
static inline larder_status larder_json_flag(larder_str json, int *out) {
    if (json.len == 4 && memcmp(json.ptr, "true", 4) == 0) *out = 1;
    else if (json.len == 5 && memcmp(json.ptr, "false", 5) == 0) *out = 0;
    else return LARDER_INVALID_ARGUMENT;
    return LARDER_OK;
}

/* Reads JSON that is a text, as UTF-8 with 0 behind it. Returns LARDER_LIMIT if there is no room for all of it, or
 * LARDER_INVALID_ARGUMENT if it is something else or has a 0 in it. */
static inline larder_status larder_json_text(larder_str json, char *out, size_t room) {
    larder_json_character read;
    const char *end;
    size_t length = 0;
    if (json.len == 0 || *json.ptr != '"') return LARDER_INVALID_ARGUMENT;
    end = json.ptr + json.len;
    for (read = larder_json_next(json.ptr + 1, end); read.count > 0; read = larder_json_next(read.next, end)) {
        if (read.count == 1 && read.bytes[0] == 0) return LARDER_INVALID_ARGUMENT;
        if (length + read.count >= room) return LARDER_LIMIT;
        memcpy(out + length, read.bytes, read.count);
        length += read.count;
    }
    if (length >= room) return LARDER_LIMIT;
    out[length] = 0;
    return LARDER_OK;
}

/* Finds the JSON of a setting by its name, such as 10, "7d" or ["a","b"]. The text is borrowed until the current call
 * returns. Returns LARDER_NOT_FOUND if there is no such setting or it is null, or what the host returns. */
static inline larder_status larder_setting(const larder_host *host, const larder_config *config, const char *name,
                                           larder_str *out) {
    larder_str settings = {NULL, 0};
    larder_status status = config->settings(host, &settings);
    return status == LARDER_OK ? larder_json_member(settings, name, out) : status;
}

/* Reads a setting that is a whole number: also a duration, which comes in milliseconds, and a size, in bytes. Returns
 * LARDER_INVALID_ARGUMENT if it is something else, else as larder_setting. */
static inline larder_status larder_setting_integer(const larder_host *host, const larder_config *config,
                                                   const char *name, int64_t *out) {
    larder_str json = {NULL, 0};
    larder_status status = larder_setting(host, config, name, &json);
    return status == LARDER_OK ? larder_json_integer(json, out) : status;
}

/* Reads a setting that is true or false, as 1 or 0. Returns as larder_setting_integer. */
static inline larder_status larder_setting_flag(const larder_host *host, const larder_config *config, const char *name,
                                                int *out) {
    larder_str json = {NULL, 0};
    larder_status status = larder_setting(host, config, name, &json);
    return status == LARDER_OK ? larder_json_flag(json, out) : status;
}

/* Reads a setting that is a text. Returns as larder_json_text, else as larder_setting. */
static inline larder_status larder_setting_text(const larder_host *host, const larder_config *config, const char *name,
                                                char *out, size_t room) {
    larder_str json = {NULL, 0};
    larder_status status = larder_setting(host, config, name, &json);
    return status == LARDER_OK ? larder_json_text(json, out, room) : status;
}

LARDER_END

#endif
