/* A plugin's settings: the schema, and the test's settings, checked and filled in by the rules of
 * ext/config-schema.h. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fill_in(larder_fake *fake, const struct json *properties, const struct json *given, const char *within,
                struct text *out);

static int is_type(const struct json *schema, const char *wanted) {
    const struct json *type = json_member(schema, "type");
    return type && type->kind == JSON_STRING && !strcmp(type->text, wanted);
}

static int is_number(const struct json *value) { return value->kind == JSON_INTEGER || value->kind == JSON_NUMBER; }

/* Reads a duration in milliseconds, or a size in bytes. */
static int quantity(const struct json *schema, const struct json *value, int64_t *out) {
    static const struct {
        const char *format, *unit;
        int64_t factor;
    } units[] = {
        {"duration", "ms", 1},          {"duration", "s", 1000},
        {"duration", "m", 60000},       {"duration", "h", 3600000},
        {"duration", "d", 86400000},    {"size", "B", 1},
        {"size", "kB", 1000},           {"size", "KB", 1000},
        {"size", "MB", 1000000},        {"size", "GB", 1000000000},
        {"size", "TB", 1000000000000},  {"size", "KiB", 1 << 10},
        {"size", "MiB", 1 << 20},       {"size", "GiB", 1 << 30},
        {"size", "TiB", INT64_C(1) << 40},
    };
    const struct json *format = json_member(schema, "format");
    const char *text = value->text, *digits = text && *text == '-' ? text + 1 : text;
    size_t count = text && value->kind == JSON_STRING ? strspn(digits, "0123456789") : 0;
    int64_t number = 0, most;
    if (!format || !count || value->length != strlen(text)) return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].format, format->text) || strcmp(units[i].unit, digits + count)) continue;
        most = (*units[i].format == 'd' ? INT64_MAX / 1000000 : INT64_MAX) / units[i].factor;
        for (size_t k = 0; k < count; k++) {
            if (number > (most - (digits[k] - '0')) / 10) return 0;
            number = number * 10 + (digits[k] - '0');
        }
        *out = number * units[i].factor * (digits == text ? 1 : -1);
        return 1;
    }
    return 0;
}

/* Returns the problem of a value that contains no settings, or null if there is none. */
static const char *wrong(const struct json *schema, const struct json *value) {
    const struct json *allowed = json_member(schema, "enum"), *least = json_member(schema, "minimum"),
                      *most = json_member(schema, "maximum");
    double number = value->number;
    int is_counted = is_number(value);
    int64_t meant;
    if (json_member(schema, "format")) {
        if (!quantity(schema, value, &meant)) return "is not a duration or size";
        number = (double)meant;
        is_counted = 1;
    } else if (is_type(schema, "array")) {
        if (value->kind != JSON_ARRAY) return "must be a list";
        for (size_t i = 0; i < value->children.count; i++) {
            if (value->children.at[i].kind != JSON_STRING) return "must be a list of texts";
        }
        return NULL;
    } else if (!((is_type(schema, "boolean") && value->kind == JSON_BOOLEAN)
                 || (is_type(schema, "string") && value->kind == JSON_STRING)
                 || (is_type(schema, "integer") && value->kind == JSON_INTEGER)
                 || (is_type(schema, "number") && is_number(value)))) {
        return "is of another type";
    }
    for (size_t i = 0; allowed; i++) {
        if (i == allowed->children.count) return "is not one of its `enum`";
        if (json_equal(&allowed->children.at[i], value)) break;
    }
    if (is_counted && least && number < least->number) return "is below its `minimum`";
    if (is_counted && most && number > most->number) return "is above its `maximum`";
    return NULL;
}

/* Writes a value in the form that the plugin gets. Returns 0 if the value is wrong. */
static int put_value(larder_fake *fake, const struct json *schema, const struct json *value, const char *name,
                     struct text *out) {
    const char *problem;
    char number[32];
    int64_t meant;
    if (is_type(schema, "object")) {
        if (value->kind == JSON_OBJECT) return fill_in(fake, json_member(schema, "properties"), value, name, out);
        problem = "must hold settings";
    } else {
        problem = wrong(schema, value);
    }
    if (problem) {
        set_problem(fake, "settings: `%s` %s", name, problem);
        return 0;
    }
    if (quantity(schema, value, &meant)) {
        snprintf(number, sizeof number, "%lld", (long long)meant);
        put_text(out, number);
    } else {
        put_json(out, value);
    }
    return 1;
}

static int fill_in(larder_fake *fake, const struct json *properties, const struct json *given, const char *within,
                struct text *out) {
    int is_first = 1;
    for (size_t i = 0; i < given->children.count; i++) {
        if (properties && json_member(properties, given->children.at[i].name)) continue;
        set_problem(fake, "settings: `%s%s%s` is unknown", within, *within ? "." : "", given->children.at[i].name);
        return 0;
    }
    put_text(out, "{");
    for (size_t i = 0; properties && i < properties->children.count; i++) {
        const struct json *schema = &properties->children.at[i], *value = json_member(given, schema->name);
        char name[256];
        if (!value) value = json_member(schema, "default");
        if (!value) continue;
        if (!is_first) put_text(out, ",");
        is_first = 0;
        put_name(out, schema->name);
        snprintf(name, sizeof name, "%s%s%s", within, *within ? "." : "", schema->name);
        if (!put_value(fake, schema, value, name, out)) return 0;
    }
    put_text(out, "}");
    return 1;
}

/* Tells whether the host can heed a setting in this role. */
static int is_heeded(const struct json *schema, const char *as) {
    const struct json *format = json_member(schema, "format");
    if (!strcmp(as, "ignored-readers")) return is_type(schema, "array");
    return !strcmp(as, "poll-interval") && format && format->kind == JSON_STRING && !strcmp(format->text, "duration");
}

/* Tells whether a schema promises only checks that the host makes. */
static int check_properties(larder_fake *fake, const struct json *properties, int is_nested) {
    static const char *const types[] = {"boolean", "integer", "number", "string", "array", "object"};
    for (size_t i = 0; i < properties->children.count; i++) {
        const struct json *schema = &properties->children.at[i], *fallback = json_member(schema, "default");
        const char *name = schema->name;
        struct text none = {0};
        int is_known = 0;
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) is_known |= is_type(schema, types[k]);
        if (!is_known) {
            set_problem(fake, "bad text: the setting `%s` has no known type", name);
            return 0;
        }
        for (size_t k = 0; k < schema->children.count; k++) {
            const struct json *word = &schema->children.at[k];
            int is_text = word->kind == JSON_STRING;
            int is_right = !strcmp(word->name, "type") || !strcmp(word->name, "default")
                || (!strcmp(word->name, "description") && is_text) || (!strcmp(word->name, "title") && is_text)
                || (!strcmp(word->name, "enum") && word->kind == JSON_ARRAY)
                || (!strcmp(word->name, "minimum") && is_number(word))
                || (!strcmp(word->name, "maximum") && is_number(word))
                || (!strcmp(word->name, "format") && is_text && is_type(schema, "string")
                    && (!strcmp(word->text, "duration") || !strcmp(word->text, "size")))
                || (!strcmp(word->name, "items") && is_type(schema, "array") && word->children.count == 1
                    && is_type(word, "string"))
                || (!strcmp(word->name, "heeded-as") && is_text)
                || (!strcmp(word->name, "properties") && is_type(schema, "object") && word->kind == JSON_OBJECT);
            if (is_right) continue;
            set_problem(fake, "bad text: the setting `%s` has the unknown keyword or value of `%s`", name, word->name);
            return 0;
        }
        if (json_member(schema, "heeded-as")
            && (is_nested || !is_heeded(schema, json_member(schema, "heeded-as")->text))) {
            set_problem(fake, "bad text: the setting `%s` has a `heeded-as` that is not for it", name);
            return 0;
        }
        if ((is_type(schema, "object") && !json_member(schema, "properties"))
            || (is_type(schema, "array") && !json_member(schema, "items"))) {
            set_problem(fake, "bad text: the setting `%s` has no `%s`", name,
                        is_type(schema, "array") ? "items" : "properties");
            return 0;
        }
        if (is_type(schema, "object") && !check_properties(fake, json_member(schema, "properties"), 1)) return 0;
        is_known = !fallback || put_value(fake, schema, fallback, name, &none);
        free(none.at);
        if (!is_known) {
            set_problem(fake, "bad text: the default of the setting `%s` is not an allowed value", name);
            return 0;
        }
    }
    return 1;
}

static int check_schema(larder_fake *fake, const struct json *schema) {
    const struct json *properties = json_member(schema, "properties");
    if (!properties || properties->kind != JSON_OBJECT) {
        set_problem(fake, "bad text: %s", "its settings' schema has no `properties`");
        return 0;
    }
    for (size_t i = 0; i < schema->children.count; i++) {
        const char *word = schema->children.at[i].name;
        if (!strcmp(word, "properties") || !strcmp(word, "type") || !strcmp(word, "description")
            || !strcmp(word, "title"))
            continue;
        set_problem(fake, "bad text: its settings' schema has the unknown keyword `%s`", word);
        return 0;
    }
    return check_properties(fake, properties, 0);
}

int take_settings(larder_fake *fake, const char *schema_text) {
    struct json schema, given;
    struct text filled = {0};
    int is_right = 1;
    memset(&schema, 0, sizeof schema);
    if (schema_text && !parse_json(&schema, larder_str_make(schema_text, strlen(schema_text)))) {
        set_problem(fake, "bad text: %s", "its settings' schema is not JSON");
        return 0;
    }
    if (!parse_json(&given, larder_str_make(fake->settings, strlen(fake->settings))) || given.kind != JSON_OBJECT) {
        set_problem(fake, "settings: %s", "not a JSON object");
        is_right = 0;
    }
    is_right = is_right && (!schema_text || check_schema(fake, &schema))
        && fill_in(fake, json_member(&schema, "properties"), &given, "", &filled);
    if (is_right) {
        APPEND(filled, '\0');
        free(fake->filled_settings);
        fake->filled_settings = filled.at;
    } else {
        free(filled.at);
    }
    free_json(&schema);
    free_json(&given);
    return is_right;
}
