/* A program that reports what is wrong with the texts, results and failures of larder.hpp, line by line. */
#include <larder.hpp>

#include <cstdio>

static int wrong;
#define CHECK(holds) ((holds) ? (void)0 : (void)(wrong++, std::printf("%d: %s\n", __LINE__, #holds)))

using larder::text;

static std::string said;
static larder_status said_status;

static const void *extension(const larder_host *, larder_str) { return nullptr; }
static void fail(const larder_host *, larder_status status, larder_str message) {
    said_status = status;
    said = text(message).str();
}
static const larder_host table = {sizeof table, 4, nullptr, extension, fail};

static void check_texts() {
    const std::string string = "abc";
    const text absent, empty = "", letters = string, literal = "abc", nul("a\0b", 3);
    CHECK(!absent.present() && absent.empty() && absent.str().empty() && absent == empty && absent == "");
    CHECK(empty.present() && empty.empty() && text(static_cast<const char *>(nullptr)) == absent);
    CHECK(letters == literal && letters == "abc" && letters == string && !(letters != "abc") && letters != "abd");
    CHECK("abc" == letters && string == letters && letters != "ab" && text("ab") != letters);
    CHECK(nul.size() == 3 && nul.str() == std::string("a\0b", 3) && nul != "a");
    CHECK(letters.starts_with("ab") && letters.starts_with("") && !letters.starts_with("abcd") && absent.starts_with(""));
    const std::string copy(letters);
    CHECK(copy == "abc" && std::string(letters.begin(), letters.end()) == copy && letters.data() == string.data());
    const larder_str plain = letters;
    CHECK(plain.ptr == string.data() && plain.len == 3);
#if __cplusplus >= 201703L
    const std::string_view view = letters, none = absent;
    CHECK(view == "abc" && none.empty() && text(view) == letters && letters == view && letters != std::string_view("x"));
    CHECK(text(std::string_view()).present() && text(std::string_view("abcd").substr(0, 3)) == letters);
#endif
}

static void check_bytes() {
    const std::vector<uint8_t> vector = {1, 0, 2}, nothing;
    const larder::bytes absent, empty(nothing), some = vector, letters = "ab", id = text("ab");
    CHECK(!absent.present() && absent.str().empty() && empty.present() && empty.empty());
    CHECK(some.size() == 3 && some.data() == vector.data() && letters.str() == "ab" && id.str() == "ab");
    CHECK(larder::bytes(std::string("a\0", 2)).size() == 2 && some.end() - some.begin() == 3);
}

static void check_quotes() {
    const std::vector<std::string> none, one = {"a"}, two = {"a", "\""};
    CHECK(larder::quote("") == "\"\"" && larder::quote(std::string("a\"\\\n\0", 5)) == "\"a\\\"\\\\\\x0a\\x00\"");
    CHECK(larder::quote(none) == "[]" && larder::quote(one) == "[\"a\"]" && larder::quote(two) == "[\"a\", \"\\\"\"]");
    CHECK(larder::mask() == 0 && larder::mask(0, 3, 63) == (UINT64_C(1) << 63 | 9));
}

static void check_failures() {
    larder::host host(&table);
    CHECK(host.fail(LARDER_IO, "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") == LARDER_IO && said_status == LARDER_IO);
    CHECK(said == "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    const char *const broken[] = {"\xe9", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80", "\x80"};
    for (const char *message : broken) {
        host.fail(LARDER_IO, message);
        CHECK(larder::detail::is_utf8(said) && said.size() == std::strlen(message));
    }
    said.clear();
    /* A status that comes from nowhere has no reason, and one of the host's is told only if the call fails with it. */
    CHECK(host.guard([] { return LARDER_CONFLICT; }) == LARDER_CONFLICT && said.empty());
    CHECK(host.guard([&] { return host.note("kv.get", LARDER_NOT_FOUND), LARDER_OK; }) == LARDER_OK && said.empty());
    CHECK(host.guard([&] { return host.note("kv.get", LARDER_NOT_FOUND), LARDER_IO; }) == LARDER_IO && said.empty());
    CHECK(host.guard([&] { return host.note("kv.get", -99); }) == -99 && said == "the host's kv.get failed: status -99");
    CHECK(host.guard([&] { return host.note("kv.get", LARDER_IO), host.fail(LARDER_IO, "mine"); }) == LARDER_IO);
    CHECK(said == "mine");
    larder::kv kv(host);
    CHECK(!kv && kv.get("a").status() == LARDER_UNSUPPORTED && kv.get("a").value_or("other").str() == "other");
#if LARDER_HPP_EXCEPTIONS
    CHECK(host.guard([&]() -> larder_status { throw 7; }) == LARDER_FAILED && said_status == LARDER_FAILED);
    CHECK(host.guard([&]() -> larder_status { throw larder::error(LARDER_OK, "odd"); }) == LARDER_FAILED && said == "odd");
    CHECK(host.guard([&]() -> larder_status { throw larder::error(LARDER_IO, "\xe9"); }) == LARDER_IO && said == "?");
    CHECK(host.guard([&]() -> larder_status { return kv.get("a").get(), LARDER_OK; }) == LARDER_UNSUPPORTED);
    CHECK(said == "the host's kv.get failed: it is not offered");
#endif
}

int main() {
    check_texts();
    check_bytes();
    check_quotes();
    check_failures();
    return wrong > 0;
}
