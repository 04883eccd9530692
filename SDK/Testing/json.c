/* A reader and writer of JSON (RFC 8259) for settings, their schemas, and records' values. */
#include "fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 64

struct parser {
    const char *at, *end;
};

static int parse_value(struct parser *from, struct json *out, unsigned depth);

static void skip_space(struct parser *from) {
    while (from->at < from->end && memchr(" \t\n\r", *from->at, 4)) from->at++;
}

static int has(struct parser *from, char wanted) {
    if (from->at >= from->end || *from->at != wanted) return 0;
    from->at++;
    return 1;
}

static int parse_unit(struct parser *from, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = from->at < from->end && *from->at ? strchr(digits, *from->at) : NULL;
        if (!digit) return 0;
        *unit = *unit << 4 | (uint32_t)(digit - digits < 16 ? digit - digits : digit - digits - 6);
        from->at++;
    }
    return 1;
}

static size_t put_scalar(char *to, uint32_t scalar) {
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t length = scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4;
    if (length == 1) to[0] = (char)scalar;
    for (size_t i = length; length > 1 && i-- > 0; scalar >>= 6)
        to[i] = (char)(i ? 0x80 | (scalar & 0x3F) : leads[length] | scalar);
    return length;
}

static int parse_escape(struct parser *from, char *to, size_t *length) {
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char escape = from->at < from->end ? *from->at++ : 0;
    const char *plain = escape ? strchr(escapes, escape) : NULL;
    uint32_t unit, second;
    if (plain) {
        to[(*length)++] = meant[plain - escapes];
        return 1;
    }
    if (escape != 'u' || !parse_unit(from, &unit) || (unit >= 0xDC00 && unit < 0xE000)) return 0;
    if (unit >= 0xD800 && unit < 0xDC00) {
        if (!has(from, '\\') || !has(from, 'u') || !parse_unit(from, &second) || second < 0xDC00 || second > 0xDFFF)
            return 0;
        unit = 0x10000 + ((unit & 0x3FF) << 10) + (second & 0x3FF);
    }
    *length += put_scalar(to + *length, unit);
    return 1;
}

/* Returns the text between two quotes, or null if there is none. No escape is shorter than the bytes that it stands
 * for. */
static char *parse_string(struct parser *from, size_t *length) {
    char *text;
    *length = 0;
    if (!has(from, '"')) return NULL;
    text = resized(NULL, (size_t)(from->end - from->at) + 1);
    while (from->at < from->end && *from->at != '"' && (unsigned char)*from->at >= 0x20) {
        if (!has(from, '\\')) text[(*length)++] = *from->at++;
        else if (!parse_escape(from, text, length)) break;
    }
    text[*length] = 0;
    if (has(from, '"') && is_utf8(larder_str_make(text, *length))) return text;
    free(text);
    return NULL;
}

static int parse_number(struct parser *from, struct json *out) {
    const char *start = from->at;
    char *end;
    while (from->at < from->end && *from->at && strchr("0123456789+-.eE", *from->at)) from->at++;
    out->length = (size_t)(from->at - start);
    out->text = text_of(larder_str_make(start, out->length));
    if (!out->length || *start == '+' || out->text[out->length - 1] < '0' || out->text[out->length - 1] > '9') return 0;
    errno = 0;
    out->integer = strtoll(out->text, &end, 10);
    out->kind = *end || errno ? JSON_NUMBER : JSON_INTEGER;
    out->number = strtod(out->text, &end);
    return !*end && out->number - out->number == 0;
}

static int parse_children(struct parser *from, struct json *out, char close, unsigned depth) {
    skip_space(from);
    if (has(from, close)) return 1;
    do {
        struct json child;
        memset(&child, 0, sizeof child);
        skip_space(from);
        if (out->kind == JSON_OBJECT) {
            size_t length;
            child.name = parse_string(from, &length);
            skip_space(from);
        }
        if ((out->kind == JSON_OBJECT && (!child.name || !has(from, ':'))) || !parse_value(from, &child, depth + 1)) {
            free_json(&child);
            return 0;
        }
        APPEND(out->children, child);
        skip_space(from);
    } while (has(from, ','));
    return has(from, close);
}

static int parse_value(struct parser *from, struct json *out, unsigned depth) {
    static const char *const words[] = {"null", "false", "true"};
    skip_space(from);
    if (depth >= DEEPEST || from->at >= from->end) return 0;
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(from->end - from->at) < length || memcmp(from->at, words[i], length) != 0) continue;
        from->at += length;
        out->kind = i ? JSON_BOOLEAN : JSON_NULL;
        out->integer = i == 2;
        return 1;
    }
    if (*from->at == '"') {
        out->kind = JSON_STRING;
        return (out->text = parse_string(from, &out->length)) != NULL;
    }
    if (*from->at != '{' && *from->at != '[') return parse_number(from, out);
    out->kind = *from->at++ == '{' ? JSON_OBJECT : JSON_ARRAY;
    return parse_children(from, out, out->kind == JSON_OBJECT ? '}' : ']', depth);
}

int parse_json(struct json *out, larder_str text) {
    struct parser from = {text.ptr, text.ptr + text.len};
    memset(out, 0, sizeof *out);
    if (text.ptr && parse_value(&from, out, 0)) {
        skip_space(&from);
        if (from.at == from.end) return 1;
    }
    free_json(out);
    return 0;
}

void free_json(struct json *json) {
    for (size_t i = 0; i < json->children.count; i++) free_json(&json->children.at[i]);
    free(json->children.at);
    free(json->name);
    free(json->text);
    memset(json, 0, sizeof *json);
}

const struct json *json_member(const struct json *object, const char *name) {
    for (size_t i = object->children.count; object->kind == JSON_OBJECT && i-- > 0;) {
        if (!strcmp(object->children.at[i].name, name)) return &object->children.at[i];
    }
    return NULL;
}

int json_equal(const struct json *one, const struct json *other) {
    int are_numbers = one->kind == JSON_NUMBER && other->kind == JSON_NUMBER;
    if (one->kind != other->kind || one->children.count != other->children.count) return 0;
    if (one->kind == JSON_STRING) return one->length == other->length && !memcmp(one->text, other->text, one->length);
    for (size_t i = 0; i < one->children.count; i++) {
        const struct json *a = &one->children.at[i], *b = &other->children.at[i];
        if ((a->name && strcmp(a->name, b->name)) || !json_equal(a, b)) return 0;
    }
    return are_numbers ? one->number == other->number : one->integer == other->integer;
}

/* The writer. */

static void put(struct text *to, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) APPEND(*to, bytes[i]);
}

static void put_quoted(struct text *to, const char *text, size_t length) {
    put(to, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        char escape[8];
        if (byte >= 0x20 && byte != '"' && byte != '\\') put(to, text + i, 1);
        else put(to, escape, (size_t)snprintf(escape, sizeof escape, byte < 0x20 ? "\\u%04x" : "\\%c", byte));
    }
    put(to, "\"", 1);
}

void put_json(struct text *to, const struct json *json) {
    int is_object = json->kind == JSON_OBJECT;
    switch (json->kind) {
    case JSON_NULL: put(to, "null", 4); return;
    case JSON_BOOLEAN: put(to, json->integer ? "true" : "false", json->integer ? 4 : 5); return;
    case JSON_INTEGER:
    case JSON_NUMBER: put(to, json->text, json->length); return;
    case JSON_STRING: put_quoted(to, json->text, json->length); return;
    case JSON_ARRAY:
    case JSON_OBJECT: break;
    }
    put(to, is_object ? "{" : "[", 1);
    for (size_t i = 0; i < json->children.count; i++) {
        const struct json *child = &json->children.at[i];
        if (i) put(to, ",", 1);
        if (is_object) put_name(to, child->name);
        put_json(to, child);
    }
    put(to, is_object ? "}" : "]", 1);
}

void put_name(struct text *to, const char *name) {
    put_quoted(to, name, strlen(name));
    put(to, ":", 1);
}

void put_text(struct text *to, const char *text) { put(to, text, strlen(text)); }
