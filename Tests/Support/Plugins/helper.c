/* A program that reports what is wrong with larder/helper.h, line by line. C and C++. With arguments, it prints each as
 * a condition has it. */
#include <larder/larder.h>
#include <larder/helper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
#define CHECK(holds) ((holds) ? (void)0 : (void)(wrong++, printf("%d: %s\n", __LINE__, #holds)))

static larder_str given;
static larder_status result = LARDER_OK;
static larder_status settings(const larder_host *host, larder_str *out) {
    (void)host;
    *out = given;
    return result;
}

static const larder_config config = {sizeof config, 0, settings};
static larder_host host;

static void set(const char *text) { given = larder_str_make(text, strlen(text)); }

static int is_integer(const char *name, int64_t expected) {
    int64_t found = expected ^ 1;
    return larder_setting_integer(&host, &config, name, &found) == LARDER_OK && found == expected;
}

static int is_text(const char *name, const char *expected) {
    char found[64];
    return larder_setting_text(&host, &config, name, found, sizeof found) == LARDER_OK && !strcmp(found, expected);
}

static int is_quoted(const char *text, uint64_t length, const char *expected) {
    char found[64];
    return larder_quote(larder_str_make(text, length), found, sizeof found) == strlen(expected)
           && !strcmp(found, expected);
}

static void check_settings(void) {
    int64_t number = 7;
    int flag = 7;
    char text[8];
    larder_str json = {NULL, 0};
    set("{\"a\":10,\"nested\":{\"b\":1,\"c\":\"}\"},\"list\":[{\"b\":2},\"]\",[3]],\"b\":-5,\"largest\":9223372036854775807,"
        "\"least\":-9223372036854775808,\"above\":9223372036854775808,\"half\":1.5,\"t\":true,\"f\":false,\"n\":null,"
        "\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\",\"zero\":\"a\\u0000\",\"\\u0063\":\"d\"}");
    CHECK(is_integer("a", 10) && is_integer("b", -5));
    CHECK(is_integer("largest", INT64_MAX) && is_integer("least", INT64_MIN));
    CHECK(larder_setting_integer(&host, &config, "above", &number) == LARDER_INVALID_ARGUMENT);
    CHECK(larder_setting_integer(&host, &config, "half", &number) == LARDER_INVALID_ARGUMENT);
    CHECK(larder_setting_integer(&host, &config, "text", &number) == LARDER_INVALID_ARGUMENT);
    CHECK(larder_setting_integer(&host, &config, "n", &number) == LARDER_NOT_FOUND);
    CHECK(larder_setting_integer(&host, &config, "absent", &number) == LARDER_NOT_FOUND);
    CHECK(larder_setting_integer(&host, &config, "", &number) == LARDER_NOT_FOUND && number == 7);
    CHECK(larder_setting_flag(&host, &config, "t", &flag) == LARDER_OK && flag == 1);
    CHECK(larder_setting_flag(&host, &config, "f", &flag) == LARDER_OK && flag == 0);
    CHECK(larder_setting_flag(&host, &config, "a", &flag) == LARDER_INVALID_ARGUMENT);
    CHECK(is_text("text", "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") && is_text("c", "d"));
    CHECK(larder_setting_text(&host, &config, "zero", text, sizeof text) == LARDER_INVALID_ARGUMENT);
    CHECK(larder_setting_text(&host, &config, "text", text, sizeof text) == LARDER_LIMIT);
    CHECK(larder_setting_text(&host, &config, "c", text, 1) == LARDER_LIMIT);
    CHECK(larder_setting_text(&host, &config, "c", text, 2) == LARDER_OK && !strcmp(text, "d"));
    CHECK(larder_setting_text(&host, &config, "a", text, sizeof text) == LARDER_INVALID_ARGUMENT);
    CHECK(larder_setting(&host, &config, "list", &json) == LARDER_OK && json.len == 17
          && !memcmp(json.ptr, "[{\"b\":2},\"]\",[3]]", 17));
    set(" { \"a\" : 1 , \"b\" :\n[ ] , \"c\":2 } ");
    CHECK(is_integer("a", 1) && is_integer("c", 2));
    CHECK(larder_setting(&host, &config, "b", &json) == LARDER_OK && json.len == 3);
    set("{}");
    CHECK(larder_setting(&host, &config, "a", &json) == LARDER_NOT_FOUND);
    result = LARDER_UNSUPPORTED;
    CHECK(larder_setting_integer(&host, &config, "a", &number) == LARDER_UNSUPPORTED);
    result = LARDER_OK;
}

static void check_lists(void) {
    larder_str rest, item, json;
    int64_t above[2] = {0, 0};
    char text[8];
    int count = 0, flag = 0;
    set("{\"sizes\":[ {\"above\":5,\"tags\":[\"]\"]} ,{ \"above\" : -7 , \"name\":\"a\",\"t\":true}],\"none\":[ ],\"text\":\"[1]\"}");
    CHECK(larder_setting(&host, &config, "sizes", &rest) == LARDER_OK);
    for (; larder_json_item(&rest, &item) && count < 2; count++)
        CHECK(larder_json_member(item, "above", &json) == LARDER_OK
              && larder_json_integer(json, &above[count]) == LARDER_OK);
    CHECK(count == 2 && above[0] == 5 && above[1] == -7);
    CHECK(larder_json_member(item, "name", &json) == LARDER_OK && larder_json_text(json, text, sizeof text) == LARDER_OK
          && !strcmp(text, "a"));
    CHECK(larder_json_member(item, "t", &json) == LARDER_OK && larder_json_flag(json, &flag) == LARDER_OK && flag == 1);
    CHECK(larder_json_member(item, "tags", &json) == LARDER_NOT_FOUND);
    CHECK(larder_json_member(larder_str_make("[1]", 3), "a", &json) == LARDER_NOT_FOUND);
    CHECK(larder_setting(&host, &config, "none", &rest) == LARDER_OK && !larder_json_item(&rest, &item));
    CHECK(larder_setting(&host, &config, "text", &rest) == LARDER_OK && !larder_json_item(&rest, &item));
}

/* Whatever the text is, nothing outside of it is read. */
static void check_any_text(void) {
    static const char parts[] = "{}[]\":,\\u0019ad-tn ";
    unsigned random = 1;
    for (int round = 0; round < 200000; round++) {
        char text[24], out[8], *exact;
        larder_str json, item;
        int64_t number;
        size_t length, i;
        random = random * 1103515245u + 12345u;
        length = random >> 16 & 15;
        for (i = 0; i < length; i++) {
            random = random * 1103515245u + 12345u;
            text[i] = parts[(random >> 16) % (sizeof parts - 1)];
        }
        /* Memory of just this size, so that a sanitizer sees a byte behind it. */
        exact = (char *)malloc(length + 1);
        if (!exact) abort();
        memcpy(exact + 1, text, length);
        exact[0] = '{';
        given = larder_str_make(exact, length + 1);
        if (larder_setting(&host, &config, "a", &json) == LARDER_OK)
            CHECK(json.ptr >= exact && json.ptr + json.len <= exact + length + 1);
        (void)larder_setting_integer(&host, &config, "a", &number);
        (void)larder_setting_text(&host, &config, "0", out, sizeof out);
        exact[0] = '[';
        for (json = given; larder_json_item(&json, &item);)
            CHECK(item.len > 0 && item.ptr >= exact && item.ptr + item.len <= exact + length + 1);
        free(exact);
    }
}

static void check_quotes(void) {
    char cut[4];
    CHECK(is_quoted("", 0, "\"\"") && is_quoted("a'b", 3, "\"a'b\"") && is_quoted("\"\\", 2, "\"\\\"\\\\\""));
    CHECK(is_quoted("\n\x7f\0", 3, "\"\\x0a\\x7f\\x00\"") && is_quoted("\xc3\xa9", 2, "\"\xc3\xa9\""));
    CHECK(larder_quote(LARDER_STR("abc"), cut, sizeof cut) == 5 && !strcmp(cut, "\"ab"));
    CHECK(larder_quote(LARDER_STR("abc"), cut, 0) == 5);
}

static larder_status every(void *context, larder_str *out) {
    (void)context;
    *out = LARDER_STR("true");
    return LARDER_OK;
}

static void check_processor(void) {
    static const larder_item_policy_processor processor =
        LARDER_PROCESSOR("helped", LARDER_FIELD_BIT(LARDER_FIELD_PATH), every, larder_no_item, larder_no_condition,
                         larder_no_item);
    larder_str condition = {NULL, 0};
    CHECK(processor.struct_size == sizeof processor && processor.kind.len == 6);
    CHECK(processor.triggers(NULL) == LARDER_TRIGGERS_ALL);
    CHECK(processor.cleanup_condition(NULL, &condition) == LARDER_OK && !condition.ptr);
    CHECK(processor.policy_condition(NULL, &condition) == LARDER_OK && !condition.ptr);
    CHECK(processor.match_condition(NULL, &condition) == LARDER_OK && condition.len == 4);
    CHECK(processor.preflight(NULL, 0, NULL) == LARDER_OK && processor.will_enter_trigger(NULL, 0) == LARDER_OK);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        for (int i = 1; i < argc; i++) {
            char out[400];
            larder_quote(larder_str_make(argv[i], strlen(argv[i])), out, sizeof out);
            puts(out);
        }
        return 0;
    }
    check_settings();
    check_lists();
    check_quotes();
    check_processor();
    check_any_text();
    return wrong > 0;
}
