/* larder.hpp: the plugin interface for C++11 and later.
 *
 * A plugin is a class that derives from larder::processor or larder::event_loop. It gives a description, overrides the
 * functions that it needs, and uses services of the host, which are classes with the names of the headers in
 * larder/ext. LARDER_PLUGINS makes the library's entry function. The comments of the C headers say what each function
 * means, which statuses it returns and in which calls it may be used.
 *
 * Nothing here is part of the ABI: all of it becomes a part of the plugin. It needs the C headers and the standard
 * library, and works without exceptions and without run-time types (-fno-exceptions, -fno-rtti).
 *
 *   Statuses    A function that only does something returns a larder_status. One that also hands something out returns
 *               a larder::result, or a cursor or answer that knows its status.
 *   Exceptions  No exception leaves a plugin. The call ends with LARDER_FAILED and the exception's text, or with the
 *               status of a larder::error. larder::check and result::get make exceptions of statuses.
 *   Reasons     A function of the plugin may return the status of a function of the host as it is: the host is then
 *               told which function failed. For a reason of its own it returns host.fail(status, "...").
 *   Texts       A larder::text is borrowed. str() makes a std::string, which may be kept.
 *   Life        The host's call of `start` makes the plugin's object, that of `stop` deletes it.
 *
 * Example:
 *
 *     #include <larder.hpp>
 *
 *     class rare : public larder::processor {
 *     public:
 *         static larder::description description() {
 *             return larder::description("org.example.rare", "Rare", "1.0.0", LARDER_EXT_ACTIONS " " LARDER_EXT_CONFIG);
 *         }
 *         static const char *kind() { return "rare"; }
 *         static uint64_t fields() { return larder::mask(LARDER_FIELD_LOCAL_ID); }
 *         static const char *schema() {
 *             return "{\"properties\": {\"folder\": {\"type\": \"string\", \"default\": \"/Rare\"}}}";
 *         }
 *
 *         explicit rare(larder::host &host) : actions(host), config(host) {}
 *
 *         larder_status start() override {
 *             larder::result<std::string> found = config.text("folder");
 *             if (found) folder = *found;
 *             return found.status();
 *         }
 *
 *         larder_status match_condition(std::string &out) override {
 *             out = "cloudStatus == \"cloudOnly\" && parentPath == " + larder::quote(folder);
 *             return LARDER_OK;
 *         }
 *
 *         larder_status perform_action(uint32_t, const larder::item &item) override {
 *             return actions.download(item.local_id());
 *         }
 *
 *     private:
 *         larder::actions actions;
 *         larder::config config;
 *         std::string folder;
 *     };
 *
 *     LARDER_PLUGINS(rare)
 */
#ifndef LARDER_HPP
#define LARDER_HPP

#include <larder/helper.h>
#include <larder/larder.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 201703L
#include <string_view>
#define LARDER_HPP_CHECKED [[nodiscard]]
#else
#define LARDER_HPP_CHECKED
#endif
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define LARDER_HPP_EXCEPTIONS 1
#endif

/* Defines the entry function of a library, which holds the plugins of these classes. Write it once in all of the
 * library's files, outside of any namespace. */
#define LARDER_PLUGINS(...)                                                                                            \
    larder_status larder_plugin_entry_v1(uint32_t host_minor, const larder_module **out) {                             \
        (void)host_minor;                                                                                              \
        *out = ::larder::detail::library<__VA_ARGS__>::module();                                                       \
        return LARDER_OK;                                                                                              \
    }

namespace larder {

/* --- Texts and bytes. --- */

/* A borrowed text, which may be absent: a larder_str that is made of a char pointer, a std::string or, since C++17, a
 * std::string_view. What it is made of must live at least as long. */
class text : public larder_str {
public:
    text() : larder_str() {}
    text(larder_str other) : larder_str(other) {}
    text(const char *chars, uint64_t length) : larder_str(larder_str_make(chars, length)) {}
    text(const char *chars) : larder_str(larder_str_make(chars, chars ? std::strlen(chars) : 0)) {}
    text(const std::string &string) : larder_str(larder_str_make(string.data(), string.size())) {}

    bool present() const { return ptr != nullptr; }
    bool empty() const { return len == 0; }
    std::size_t size() const { return static_cast<std::size_t>(len); }
    const char *data() const { return ptr; }
    const char *begin() const { return ptr; }
    const char *end() const { return ptr + len; }
    bool starts_with(text start) const {
        return len >= start.len && (start.len == 0 || std::memcmp(ptr, start.ptr, start.size()) == 0);
    }
    /* Copies it; an absent text becomes an empty one. */
    std::string str() const { return empty() ? std::string() : std::string(ptr, size()); }
    explicit operator std::string() const { return str(); }

    /* They compare bytes. An absent text equals an empty one. */
    friend bool operator==(const text &one, const text &other) {
        return one.len == other.len && one.starts_with(other);
    }
    friend bool operator!=(const text &one, const text &other) { return !(one == other); }
    friend bool operator==(const text &one, const char *other) { return one == text(other); }
    friend bool operator!=(const text &one, const char *other) { return !(one == text(other)); }
    friend bool operator==(const text &one, const std::string &other) { return one == text(other); }
    friend bool operator!=(const text &one, const std::string &other) { return !(one == text(other)); }

#if __cplusplus >= 201703L
    text(std::string_view view) : larder_str(larder_str_make(view.data() ? view.data() : "", view.size())) {}
    operator std::string_view() const { return empty() ? std::string_view() : std::string_view(ptr, size()); }
    friend bool operator==(const text &one, std::string_view other) { return one == text(other); }
    friend bool operator!=(const text &one, std::string_view other) { return !(one == text(other)); }
#endif
};

/* Borrowed bytes, which may be absent. */
class bytes : public larder_bytes {
public:
    bytes() : larder_bytes() {}
    bytes(larder_bytes other) : larder_bytes(other) {}
    bytes(const void *start, uint64_t length) : larder_bytes() {
        static const uint8_t none[1] = {0};
        ptr = start ? static_cast<const uint8_t *>(start) : none;
        len = length;
    }
    bytes(const char *chars) : bytes(chars, std::strlen(chars)) {}
    bytes(larder_str plain) : bytes(plain.ptr, plain.len) {}
    bytes(const std::string &string) : bytes(string.data(), string.size()) {}
    bytes(const std::vector<uint8_t> &vector) : bytes(vector.data(), vector.size()) {}

    bool present() const { return ptr != nullptr; }
    bool empty() const { return len == 0; }
    std::size_t size() const { return static_cast<std::size_t>(len); }
    const uint8_t *data() const { return ptr; }
    const uint8_t *begin() const { return ptr; }
    const uint8_t *end() const { return ptr + len; }
    std::string str() const {
        return empty() ? std::string() : std::string(reinterpret_cast<const char *>(ptr), size());
    }
};

/* A borrowed list that the host hands out, such as the homes of a discovery: for (larder::text home : texts). */
class texts {
public:
    class iterator {
    public:
        explicit iterator(const larder_str *place) : at(place) {}
        text operator*() const { return *at; }
        iterator &operator++() {
            at++;
            return *this;
        }
        bool operator!=(const iterator &other) const { return at != other.at; }

    private:
        const larder_str *at;
    };

    texts() : start(nullptr), count(0) {}
    texts(const larder_str *first, uint64_t number) : start(first), count(first ? number : 0) {}
    std::size_t size() const { return static_cast<std::size_t>(count); }
    text operator[](std::size_t index) const { return index < count ? text(start[index]) : text(); }
    iterator begin() const { return iterator(start); }
    iterator end() const { return iterator(start + count); }

private:
    const larder_str *start;
    uint64_t count;
};

/* Returns a text as a condition has it, in quotes: path == "a \"b\"". */
inline std::string quote(text plain) {
    char none[1];
    std::string quoted(larder_quote(plain, none, 0) + 1, '\0');
    larder_quote(plain, &quoted[0], quoted.size());
    quoted.resize(quoted.size() - 1);
    return quoted;
}

/* Returns a list of texts as a condition has it behind `in`: ["a", "b"]. */
inline std::string quote(const std::vector<std::string> &list) {
    std::string quoted = "[";
    for (std::size_t index = 0; index < list.size(); index++) quoted += (index ? ", " : "") + quote(text(list[index]));
    return quoted + "]";
}

/* Returns a mask of numbers: of fields, or of triggers. */
constexpr uint64_t mask() { return 0; }
template <class... More> constexpr uint64_t mask(uint32_t number, More... more) {
    return UINT64_C(1) << number | mask(more...);
}

/* Returns a struct of the ABI with its `struct_size` and zeros: a query, a policy or a record to fill in. */
template <class Struct> Struct make() {
    Struct made = Struct();
    made.struct_size = sizeof made;
    return made;
}
template <> inline larder_project_update make<larder_project_update>() {
    larder_project_update made = larder_project_update();
    made.struct_size = sizeof made;
    made.add_stride = sizeof(larder_project_new_step);
    made.cursor = LARDER_PROJECT_CURSOR_STAYS;
    return made;
}

/* --- Statuses. --- */

#if LARDER_HPP_EXCEPTIONS
/* A status as an exception. Without a message, the host is told which of its functions failed. */
class error : public std::exception {
public:
    explicit error(larder_status code, const std::string &message = std::string()) : code_(code), message_(message) {}
    larder_status status() const { return code_; }
    const char *what() const noexcept override { return message_.c_str(); }

private:
    larder_status code_;
    std::string message_;
};

/* Throws an error unless the status is LARDER_OK. */
inline void check(larder_status status) {
    if (status != LARDER_OK) throw error(status);
}
#endif

/* A value, or the status that says why there is none. */
template <class Value> class LARDER_HPP_CHECKED result {
public:
    result(larder_status status, Value value) : status_(status), value_(std::move(value)) {}
    explicit operator bool() const { return status_ == LARDER_OK; }
    larder_status status() const { return status_; }
    /* The value, only with LARDER_OK. */
    const Value &operator*() const & { return value_; }
    Value operator*() && { return std::move(value_); }
    const Value *operator->() const { return &value_; }
    /* The value, or another one. */
    Value value_or(Value other) const { return status_ == LARDER_OK ? value_ : other; }
#if LARDER_HPP_EXCEPTIONS
    /* The value, or an error is thrown. */
    Value get() const {
        check(status_);
        return value_;
    }
#endif

private:
    larder_status status_;
    Value value_;
};

/* --- The host. --- */

namespace detail {

__attribute__((visibility("hidden"))) inline const char *reason(larder_status status) {
    static const char *const reasons[] = {
        "the operation could not be done", "an argument is invalid", "not found", "it exists already",
        "it changed since it was read", "it is not allowed", "it is not offered", "a limit is reached",
        "the call should end", "reading or writing failed", "this is the wrong thread",
        "it is not allowed in this call"};
    return status < 0 && status >= LARDER_WRONG_STATE ? reasons[-status - 1] : nullptr;
}

/* Tells whether a text is UTF-8. */
inline bool is_utf8(text chars) {
    const unsigned char *at = reinterpret_cast<const unsigned char *>(chars.begin()), *end = at + chars.len;
    while (at < end) {
        const unsigned char first = *at++;
        const int more =
            first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
        if (more < 0 || end - at < more) return false;
        if (more > 1) {
            const unsigned two = static_cast<unsigned>(first) << 8 | at[0];
            if (two < 0xe0a0 || (two > 0xed9f && two < 0xee80) || (two > 0xefbf && two < 0xf090) || two > 0xf48f)
                return false;
        }
        for (int i = 0; i < more; i++)
            if ((*at++ & 0xc0) != 0x80) return false;
    }
    return true;
}

} // namespace detail

/* The host, as one plugin sees it for one account. */
class host {
public:
    explicit host(const larder_host *raw) : raw_(raw), said_(false), noted_(LARDER_OK), function_("") {}
    host(const host &) = delete;
    host &operator=(const host &) = delete;

    const larder_host *raw() const { return raw_; }
    /* The minor version of the host's ABI. */
    uint32_t abi_minor() const { return raw_->abi_minor; }
    /* Returns the table of a service by its name, or null if the host has no such service or it is withheld. */
    const void *extension(text name) const { return raw_->extension(raw_, name); }

    /* Says why the current call fails, and returns the status: return host.fail(LARDER_IO, "the disk is not there").
     * Bytes above 127 of a message that is not UTF-8 become question marks. */
    larder_status fail(larder_status status, text message) {
        said_ = true;
        if (detail::is_utf8(message)) {
            raw_->fail(raw_, status, message);
            return status;
        }
        std::string plain = message.str();
        for (std::size_t at = 0; at < plain.size(); at++)
            if (static_cast<unsigned char>(plain[at]) > 127) plain[at] = '?';
        raw_->fail(raw_, status, text(plain));
        return status;
    }

    /* Keeps in mind which function of the host failed, and returns its status. */
    larder_status note(const char *function, larder_status status) {
        if (status != LARDER_OK) {
            noted_ = status;
            function_ = function;
        }
        return status;
    }

    /* Runs a body as one call of the host into the plugin, from which nothing is thrown. */
    template <class Body> larder_status guard(Body body) noexcept {
        said_ = false;
        noted_ = LARDER_OK;
        larder_status status = LARDER_FAILED;
#if LARDER_HPP_EXCEPTIONS
        try {
            status = body();
        } catch (const error &thrown) {
            if (thrown.status() != LARDER_OK) status = thrown.status();
            if (*thrown.what()) fail(status, thrown.what());
        } catch (const std::exception &thrown) {
            fail(status, thrown.what());
        } catch (...) {
            fail(status, "something was thrown that is no std::exception");
        }
#else
        status = body();
#endif
        if (status != LARDER_OK && !said_ && status == noted_) {
            char message[160];
            const char *why = detail::reason(status);
            const int count = why ? std::snprintf(message, sizeof message, "the host's %s failed: %s", function_, why)
                                  : std::snprintf(message, sizeof message, "the host's %s failed: status %d", function_,
                                                  static_cast<int>(status));
            fail(status, text(message, static_cast<uint64_t>(count)));
        }
        return status;
    }

private:
    const larder_host *raw_;
    bool said_; /* whether the plugin gave a reason in this call */
    larder_status noted_;
    const char *function_;
};

namespace detail {

/* A service of the host. Its functions return LARDER_UNSUPPORTED if the service is withheld or older than they. */
template <class Table> class service {
public:
    service(host &owner, const char *name) : host_(&owner), table_(static_cast<const Table *>(owner.extension(name))) {}
    /* Whether the host has the service and grants it. */
    explicit operator bool() const { return table_ != nullptr; }
    const Table *raw() const { return table_; }

    /* Whether the host's table has a function: has(&larder_actions::move). */
    template <class Function> bool has(Function Table::*function) const {
        if (!table_) return false;
        const char *place = reinterpret_cast<const char *>(&(table_->*function));
        return place + sizeof(Function) - reinterpret_cast<const char *>(table_)
               <= static_cast<std::ptrdiff_t>(table_->struct_size);
    }

protected:
    template <class... Parameters, class... Arguments>
    larder_status call(const char *name, larder_status (*Table::*function)(const larder_host *, Parameters...),
                       Arguments... arguments) const {
        return host_->note(name, has(function) ? (table_->*function)(host_->raw(), arguments...) : LARDER_UNSUPPORTED);
    }

    host *host_;
    const Table *table_;
};

/* Something that the host opened for the current call, such as a cursor. Its end closes it. Do not keep it beyond the
 * call. */
template <class Raw> class opened {
public:
    typedef larder_status (*closing)(const larder_host *, Raw *);
    opened(host *owner, Raw *raw, closing with, larder_status status)
        : host_(owner), raw_(raw), close_(with), status_(status) {}
    opened(opened &&other) noexcept
        : host_(other.host_), raw_(other.raw_), close_(other.close_), status_(other.status_) {
        other.raw_ = nullptr;
    }
    opened(const opened &) = delete;
    opened &operator=(const opened &) = delete;
    opened &operator=(opened &&other) noexcept {
        std::swap(host_, other.host_);
        std::swap(raw_, other.raw_);
        std::swap(close_, other.close_);
        std::swap(status_, other.status_);
        return *this;
    }
    ~opened() { close(); }

    /* LARDER_OK, or why it could not be opened or read. */
    larder_status status() const { return status_; }
    explicit operator bool() const { return status_ == LARDER_OK; }
    const Raw *raw() const { return raw_; }
    /* Closes it before its end. */
    larder_status close() {
        larder_status closed = raw_ && close_ ? close_(host_->raw(), raw_) : LARDER_OK;
        raw_ = nullptr;
        return closed;
    }

protected:
    /* Reads the next part; null at the end and after a failure. */
    template <class Part> const Part *read(const char *name, larder_status (*Raw::*function)(Raw *, const Part **)) {
        const Part *part = nullptr;
        if (!raw_ || status_ != LARDER_OK) return nullptr;
        status_ = host_->note(name, (raw_->*function)(raw_, &part));
        return status_ == LARDER_OK ? part : nullptr;
    }

    host *host_;
    Raw *raw_;
    closing close_;
    larder_status status_;
};

} // namespace detail

/* --- Items. --- */

/* A borrowed file or folder. A field that the plugin did not ask for, or that has no value, is absent, 0 or false. */
class item {
public:
    explicit item(const larder_item *raw) : raw_(raw) {}
    const larder_item *raw() const { return raw_; }
    /* Whether a field has a value: has(LARDER_FIELD_SIZE). */
    bool has(uint32_t field) const { return raw_->present >> field & 1; }

    larder::text path() const { return of(LARDER_FIELD_PATH, &larder_item::path); }
    larder::text name() const { return of(LARDER_FIELD_NAME, &larder_item::name); }
    larder::text mime_type() const { return of(LARDER_FIELD_MIME_TYPE, &larder_item::mime_type); }
    larder::text etag() const { return of(LARDER_FIELD_ETAG, &larder_item::etag); }
    larder::text file_id() const { return of(LARDER_FIELD_FILE_ID, &larder_item::file_id); }
    larder::text local_id() const { return of(LARDER_FIELD_LOCAL_ID, &larder_item::local_id); }
    larder::text download_trigger() const { return of(LARDER_FIELD_DOWNLOAD_TRIGGER, &larder_item::download_trigger); }
    larder::text parent_path() const { return of(LARDER_FIELD_PARENT_PATH, &larder_item::parent_path); }
    larder::text owner() const { return of(LARDER_FIELD_OWNER, &larder_item::owner); }
    larder::text permissions() const { return of(LARDER_FIELD_PERMISSIONS, &larder_item::permissions); }
    larder::text local_path() const { return of(LARDER_FIELD_LOCAL_PATH, &larder_item::local_path); }
    larder::text shares() const { return of(LARDER_FIELD_SHARES, &larder_item::shares); }
    int64_t size() const { return of(LARDER_FIELD_SIZE, &larder_item::size); }
    int64_t last_modified() const { return of(LARDER_FIELD_LAST_MODIFIED, &larder_item::last_modified); }
    int64_t last_used() const { return of(LARDER_FIELD_LAST_USED, &larder_item::last_used); }
    uint32_t type() const { return of(LARDER_FIELD_TYPE, &larder_item::type); }
    uint32_t cloud_status() const { return of(LARDER_FIELD_CLOUD_STATUS, &larder_item::cloud_status); }
    bool removed() const { return of(LARDER_FIELD_REMOVED, &larder_item::removed) != 0; }
    bool favorite() const { return of(LARDER_FIELD_FAVORITE, &larder_item::favorite) != 0; }
    uint32_t remote_version() const { return of(LARDER_FIELD_REMOTE_VERSION, &larder_item::remote_version); }
    uint32_t available_offline() const { return of(LARDER_FIELD_AVAILABLE_OFFLINE, &larder_item::available_offline); }
    uint32_t sync_activity() const { return of(LARDER_FIELD_SYNC_ACTIVITY, &larder_item::sync_activity); }
    uint32_t claims() const { return of(LARDER_FIELD_CLAIMS, &larder_item::claims); }

private:
    template <class Value> Value of(uint32_t field, Value larder_item::*member) const {
        return has(field) ? raw_->*member : Value();
    }

    const larder_item *raw_;
};

/* A stream of items: while (const larder::item *item = cursor.next()). An item is borrowed until the next one. */
class item_cursor : public detail::opened<larder_item_cursor> {
public:
    using detail::opened<larder_item_cursor>::opened;
    /* Null at the end and after a failure, which status() tells. */
    const item *next() {
        current_ = item(read("cursor", &larder_item_cursor::next));
        return current_.raw() ? &current_ : nullptr;
    }

private:
    item current_ = item(nullptr);
};

/* A borrowed list of policies: for (larder_policy policy : policies). What an older host's policy lacks is absent. */
class policy_list {
public:
    class iterator {
    public:
        iterator(const char *place, uint32_t stride) : at_(place), stride_(stride) {}
        larder_policy operator*() const {
            const larder_policy *policy = static_cast<const larder_policy *>(static_cast<const void *>(at_));
            larder_policy copy = larder_policy();
            std::memcpy(&copy, policy, policy->struct_size < sizeof copy ? policy->struct_size : sizeof copy);
            return copy;
        }
        iterator &operator++() {
            at_ += stride_;
            return *this;
        }
        bool operator!=(const iterator &other) const { return at_ != other.at_; }

    private:
        const char *at_;
        uint32_t stride_;
    };

    explicit policy_list(const larder_policy_list &raw)
        : first_(static_cast<const char *>(raw.policies)), stride_(raw.stride), count_(raw.count) {}
    std::size_t size() const { return static_cast<std::size_t>(count_); }
    iterator begin() const { return iterator(first_, stride_); }
    iterator end() const { return iterator(first_ + count_ * stride_, stride_); }

private:
    const char *first_;
    uint32_t stride_;
    uint64_t count_;
};

/* --- The services of any call. Each is made of the host, in the plugin's constructor: actions(host). --- */

/* Lines in the host's log. A lost line fails nothing. */
class log : public detail::service<larder_log> {
public:
    explicit log(larder::host &host) : service(host, LARDER_EXT_LOG) {}
    void debug(text line) const { write(LARDER_LOG_DEBUG, line); }
    void info(text line) const { write(LARDER_LOG_INFO, line); }
    void warning(text line) const { write(LARDER_LOG_WARNING, line); }
    void error(text line) const { write(LARDER_LOG_ERROR, line); }
    larder_status write(uint32_t level, text line) const {
        return has(&larder_log::write) ? table_->write(host_->raw(), level, line) : LARDER_UNSUPPORTED;
    }
};

/* The time, in nanoseconds. */
class clock : public detail::service<larder_clock> {
public:
    explicit clock(larder::host &host) : service(host, LARDER_EXT_CLOCK) {}
    /* Since 1970 UTC. It may jump. */
    result<int64_t> now() const { return time(&larder_clock::now); }
    /* Since an unknown moment. It never goes back. */
    result<int64_t> monotonic() const { return time(&larder_clock::monotonic); }

private:
    result<int64_t> time(larder_status (*larder_clock::*function)(const larder_host *, int64_t *)) const {
        int64_t out = 0;
        larder_status status = call("clock", function, &out);
        return result<int64_t>(status, out);
    }
};

/* Whether the current call should end. */
class cancel : public detail::service<larder_cancel> {
public:
    explicit cancel(larder::host &host) : service(host, LARDER_EXT_CANCEL) {}
    larder_status check() const { return call("cancel", &larder_cancel::check); }
    result<int64_t> deadline() const {
        int64_t out = INT64_MAX;
        larder_status status = call("cancel", &larder_cancel::deadline, &out);
        return result<int64_t>(status, out);
    }
};

/* Settings that belong together, by their names: those of the plugin, or an object of a list. It is borrowed for the
 * call. A setting that is missing or null is LARDER_NOT_FOUND, one of another type LARDER_INVALID_ARGUMENT. */
class settings {
public:
    explicit settings(larder::host &host, larder::text json = larder::text(), larder_status status = LARDER_OK)
        : host_(&host), json_(json), status_(status) {}

    /* The JSON of a setting. */
    result<larder::text> json(const char *name) const {
        larder_str out = larder_str();
        larder_status status = status_ == LARDER_OK ? larder_json_member(json_, name, &out) : status_;
        return noted<larder::text>(status, out);
    }
    /* A whole number; also a duration in milliseconds, and a size in bytes. */
    result<int64_t> integer(const char *name) const {
        int64_t out = 0;
        result<larder::text> found = json(name);
        larder_status status = found ? larder_json_integer(*found, &out) : found.status();
        return noted(status, out);
    }
    result<double> number(const char *name) const {
        result<larder::text> found = json(name);
        std::string digits = found ? found->str() : std::string();
        char *end = nullptr;
        double out = std::strtod(digits.c_str(), &end);
        return noted(found ? (*end ? LARDER_INVALID_ARGUMENT : LARDER_OK) : found.status(), out);
    }
    result<bool> flag(const char *name) const {
        int out = 0;
        result<larder::text> found = json(name);
        larder_status status = found ? larder_json_flag(*found, &out) : found.status();
        return noted(status, out != 0);
    }
    result<std::string> text(const char *name) const {
        std::string out;
        result<larder::text> found = json(name);
        larder_status status = found ? string(*found, out) : found.status();
        return noted(status, std::move(out));
    }
    /* A list of texts. */
    result<std::vector<std::string>> list(const char *name) const {
        std::vector<std::string> out;
        larder_status status = each(name, [&](larder::text item) {
            out.emplace_back();
            return string(item, out.back());
        });
        return noted(status, std::move(out));
    }
    /* A list of objects: for (larder::settings size : *sizes). */
    result<std::vector<settings>> objects(const char *name) const {
        std::vector<settings> out;
        larder_status status = each(name, [&](larder::text item) {
            out.push_back(settings(*host_, item));
            return *item.begin() == '{' ? LARDER_OK : LARDER_INVALID_ARGUMENT;
        });
        return noted(status, std::move(out));
    }

private:
    template <class Value> result<Value> noted(larder_status status, Value value) const {
        return result<Value>(host_->note("config", status), std::move(value));
    }
    static larder_status string(larder::text json, std::string &out) {
        if (json.empty() || *json.begin() != '"') return LARDER_INVALID_ARGUMENT;
        larder_json_character read = larder_json_next(json.begin() + 1, json.end());
        for (; read.count > 0; read = larder_json_next(read.next, json.end())) out.append(read.bytes, read.count);
        return LARDER_OK;
    }
    template <class Body> larder_status each(const char *name, Body body) const {
        result<larder::text> found = json(name);
        if (!found) return found.status();
        if (*found->begin() != '[') return LARDER_INVALID_ARGUMENT;
        larder_str rest = *found, item = larder_str();
        larder_status status = LARDER_OK;
        while (status == LARDER_OK && larder_json_item(&rest, &item)) status = body(item);
        return status;
    }

    larder::host *host_;
    larder::text json_;
    larder_status status_;
};

/* The plugin's settings by their names, as larder::settings reads them. */
class config : public detail::service<larder_config> {
public:
    explicit config(larder::host &host) : service(host, LARDER_EXT_CONFIG) {}
    /* All settings, as a JSON object that is borrowed for the call. */
    result<larder::text> settings() const {
        larder_str out = larder_str();
        larder_status status = call("config", &larder_config::settings, &out);
        return result<larder::text>(status, out);
    }
    /* The JSON of a setting, borrowed for the call. */
    result<larder::text> json(const char *name) const { return all().json(name); }
    /* A whole number; also a duration in milliseconds, and a size in bytes. */
    result<int64_t> integer(const char *name) const { return all().integer(name); }
    result<double> number(const char *name) const { return all().number(name); }
    result<bool> flag(const char *name) const { return all().flag(name); }
    result<std::string> text(const char *name) const { return all().text(name); }
    /* A list of texts. */
    result<std::vector<std::string>> list(const char *name) const { return all().list(name); }
    /* A list of objects, borrowed for the call: for (larder::settings size : config.objects("sizes").get()). */
    result<std::vector<larder::settings>> objects(const char *name) const { return all().objects(name); }

private:
    larder::settings all() const {
        result<larder::text> found = settings();
        return larder::settings(*host_, *found, found.status());
    }
};

/* --- The services of a processor. --- */

/* Requests for actions. An absent key, as without one, is for requests that are the same if they are for the same action
 * on the same item. The changes of the server need a key and the grant `server-changes`. */
class actions : public detail::service<larder_actions> {
public:
    explicit actions(larder::host &host) : service(host, LARDER_EXT_ACTIONS) {}
    larder_status download(text local_id, uint32_t flags = 0, text key = text()) const {
        return call("actions.download", &larder_actions::download, local_id, flags, key);
    }
    larder_status remove_local_copy(text local_id, uint32_t flags = 0, text key = text()) const {
        return call("actions.remove_local_copy", &larder_actions::remove_local_copy, local_id, flags, key);
    }
    larder_status purge(text local_id, text key = text()) const {
        return call("actions.purge", &larder_actions::purge, local_id, 0u, key);
    }
    /* For event loops. */
    larder_status look(text path) const { return call("actions.look", &larder_actions::look, path); }
    /* Whether the host has the functions below. A host of ABI 1.0 does not. */
    bool changes_server() const { return has(&larder_actions::upload); }
    larder_status create_folder(text path, text key) const {
        return call("actions.create_folder", &larder_actions::create_folder, path, 0u, key);
    }
    larder_status move(text local_id, text target, text key) const {
        return call("actions.move", &larder_actions::move, local_id, target, 0u, key);
    }
    larder_status copy(text local_id, text target, text key) const {
        return call("actions.copy", &larder_actions::copy, local_id, target, 0u, key);
    }
    larder_status remove_from_server(text local_id, text key) const {
        return call("actions.remove_from_server", &larder_actions::remove_from_server, local_id, 0u, key);
    }
    larder_status set_favorite(text local_id, bool is_favorite, text key) const {
        return call("actions.set_favorite", &larder_actions::set_favorite, local_id, is_favorite ? 1u : 0u, 0u, key);
    }
    larder_status upload(text project, text file, text path, uint32_t flags, text key) const {
        return call("actions.upload", &larder_actions::upload, project, file, path, flags, key);
    }
};

/* Queries for items. */
class items : public detail::service<larder_items> {
public:
    explicit items(larder::host &host) : service(host, LARDER_EXT_ITEMS) {}
    item_cursor open(const larder_query &query) const {
        larder_item_cursor *raw = nullptr;
        larder_status status = call("items.open", &larder_items::open, &query, &raw);
        return item_cursor(host_, raw, table_ ? table_->close : nullptr, status);
    }
    /* Opens a cursor over the items that meet a condition, with the fields of a mask. */
    item_cursor matching(text condition, uint64_t fields) const {
        larder_query query = make<larder_query>();
        query.condition = condition;
        query.fields = fields;
        return open(query);
    }
};

/* The policies of the processor's kind. */
class policies : public detail::service<larder_policies> {
public:
    explicit policies(larder::host &host) : service(host, LARDER_EXT_POLICIES) {}
    result<policy_list> list() const {
        larder_policy_list out = make<larder_policy_list>();
        larder_status status = call("policies.list", &larder_policies::list, &out);
        return result<policy_list>(status, policy_list(out));
    }
    larder_status add(const larder_policy &policy, uint32_t flags = 0) const {
        return call("policies.add", &larder_policies::add, &policy, flags);
    }
    larder_status update(const larder_policy &policy, uint32_t flags = 0) const {
        return call("policies.update", &larder_policies::update, &policy, flags);
    }
    larder_status remove(text id, int64_t revision, uint32_t flags = 0) const {
        return call("policies.remove", &larder_policies::remove, id, revision, flags);
    }
};

/* The room that local copies take. */
class usage : public detail::service<larder_usage> {
public:
    explicit usage(larder::host &host) : service(host, LARDER_EXT_USAGE) {}
    result<larder_usage_figures> read() const {
        larder_usage_figures out = make<larder_usage_figures>();
        larder_status status = call("usage.read", &larder_usage::read, &out);
        return result<larder_usage_figures>(status, out);
    }
};

/* --- The services of processors and event loops. --- */

/* A small store of the plugin's own. A key or value is bytes, a std::string or a text. */
class kv : public detail::service<larder_kv> {
public:
    explicit kv(larder::host &host) : service(host, LARDER_EXT_KV) {}
    /* The value, borrowed for the call. LARDER_NOT_FOUND: the key has none. */
    result<bytes> get(bytes key) const {
        larder_bytes out = larder_bytes();
        larder_status status = call("kv.get", &larder_kv::get, key, &out);
        return result<bytes>(status, out);
    }
    larder_status put(bytes key, bytes value) const { return call("kv.put", &larder_kv::put, key, value); }
    larder_status remove(bytes key) const { return call("kv.remove", &larder_kv::remove, key); }
};

/* A stream of records: while (const larder_record *record = cursor.next()). */
class record_cursor : public detail::opened<larder_record_cursor> {
public:
    using detail::opened<larder_record_cursor>::opened;
    /* Null at the end and after a failure, which status() tells. */
    const larder_record *next() { return read("record_cursor.next", &larder_record_cursor::next); }
};

/* The records that event loops keep. A processor only reads them. `parts` is a set of LARDER_RECORD_... . */
class records : public detail::service<larder_records> {
public:
    explicit records(larder::host &host) : service(host, LARDER_EXT_RECORDS) {}
    /* The record, borrowed for the call. */
    result<larder_record> get(text collection, text key, uint32_t parts) const {
        larder_record out = make<larder_record>();
        larder_status status = call("records.get", &larder_records::get, collection, key, parts, &out);
        return result<larder_record>(status, out);
    }
    record_cursor open(text collection, uint32_t parts, text after = text()) const {
        larder_record_cursor *raw = nullptr;
        larder_status status = call("records.open", &larder_records::open, collection, after, parts, &raw);
        return record_cursor(host_, raw, table_ ? table_->close : nullptr, status);
    }
    larder_status put(text collection, const larder_record &record) const {
        return call("records.put", &larder_records::put, collection, &record);
    }
    larder_status put(text collection, text key, text version, text value, bytes content = bytes()) const {
        larder_record record = make<larder_record>();
        record.key = key;
        record.version = version;
        record.value = value;
        record.content = content;
        return put(collection, record);
    }
    larder_status remove(text collection, text key) const {
        return call("records.remove", &larder_records::remove, collection, key);
    }
};

/* State with steps, undo and redo. What is changed is changed at once, also if the call fails. */
class projects : public detail::service<larder_projects> {
public:
    explicit projects(larder::host &host) : service(host, LARDER_EXT_PROJECTS) {}
    result<texts> list(uint32_t order = 0) const {
        larder_project_ids out = make<larder_project_ids>();
        larder_status status = call("projects.list", &larder_projects::list, order, &out);
        return result<texts>(status, texts(out.ids, out.count));
    }
    result<larder_project> fetch(text id, uint32_t parts) const {
        larder_project out = make<larder_project>();
        larder_status status = call("projects.fetch", &larder_projects::fetch, id, parts, &out);
        return result<larder_project>(status, out);
    }
    result<larder_project_step> fetch_step(text id, text step) const {
        larder_project_step out = make<larder_project_step>();
        larder_status status = call("projects.fetch_step", &larder_projects::fetch_step, id, step, &out);
        return result<larder_project_step>(status, out);
    }
    result<larder_project_usage> usage() const {
        larder_project_usage out = make<larder_project_usage>();
        larder_status status = call("projects.usage", &larder_projects::usage, &out);
        return result<larder_project_usage>(status, out);
    }
    result<text> create() const {
        larder_str out = larder_str();
        larder_status status = call("projects.create", &larder_projects::create, &out);
        return result<text>(status, out);
    }
    /* Makes an update, which begins as make<larder_project_update>(): no steps, and the cursor stays. */
    result<texts> update(text id, const larder_project_update &update) const {
        larder_project_ids out = make<larder_project_ids>();
        larder_status status = call("projects.update", &larder_projects::update, id, &update, &out);
        return result<texts>(status, texts(out.ids, out.count));
    }
    /* Absent user data leaves the project's as it is. */
    result<text> add_step(text id, const larder_project_new_step &step, bytes user_data = bytes()) const {
        larder_str out = larder_str();
        larder_status status = call("projects.add_step", &larder_projects::add_step, id, &step, user_data, &out);
        return result<text>(status, out);
    }
    larder_status undo(text id) const { return call("projects.undo", &larder_projects::undo, id); }
    larder_status redo(text id) const { return call("projects.redo", &larder_projects::redo, id); }
    result<text> duplicate(text id) const {
        larder_str out = larder_str();
        larder_status status = call("projects.duplicate", &larder_projects::duplicate, id, &out);
        return result<text>(status, out);
    }
    larder_status remove(text id) const { return call("projects.remove", &larder_projects::remove, id); }
};

/* --- The services of an event loop. --- */

/* An answer of the server. `code` is the HTTP status code; status() tells whether there is an answer. */
class http_answer : public detail::opened<larder_http_answer> {
public:
    using detail::opened<larder_http_answer>::opened;
    uint32_t code() const { return raw_ ? raw_->status : 0; }
    /* The value of a header, borrowed as long as the answer is open. */
    result<text> header(text name) const {
        larder_str out = larder_str();
        larder_status status = raw_ ? raw_->header(raw_, name, &out) : LARDER_WRONG_STATE;
        return result<text>(host_->note("http_answer.header", status), out);
    }
    /* The next bytes of the body, absent past its end. They are borrowed until the next ones. */
    result<bytes> read() const {
        larder_bytes out = larder_bytes();
        larder_status status = raw_ ? raw_->read(raw_, &out) : LARDER_WRONG_STATE;
        return result<bytes>(host_->note("http_answer.read", status), out);
    }
    /* The whole rest of the body. LARDER_LIMIT: it has more bytes than `most`. */
    result<std::string> body(std::size_t most) const {
        std::string all;
        for (;;) {
            result<bytes> part = read();
            if (!part || !part->present()) return result<std::string>(part.status(), std::move(all));
            if (part->size() > most - all.size()) return result<std::string>(LARDER_LIMIT, std::string());
            all += part->str();
        }
    }
};

/* Requests to the account's server. */
class http : public detail::service<larder_http> {
public:
    typedef std::vector<larder_http_header> headers;

    explicit http(larder::host &host) : service(host, LARDER_EXT_HTTP) {}
    http_answer open(const larder_http_request &request) const {
        larder_http_answer *raw = nullptr;
        larder_status status = call("http.open", &larder_http::open, &request, &raw);
        return http_answer(host_, raw, table_ ? table_->close : nullptr, status);
    }
    http_answer open(text method, text target, const headers &with = headers(), bytes body = bytes()) const {
        larder_http_request request = make<larder_http_request>();
        request.header_stride = sizeof(larder_http_header);
        request.method = method;
        request.target = target;
        request.headers = with.empty() ? nullptr : with.data();
        request.header_count = with.size();
        request.body = body;
        return open(request);
    }
};

/* An answer of the server as a stream of responses: while (const larder_dav_response *found = answer.next()). */
class dav_answer : public detail::opened<larder_dav_answer> {
public:
    using detail::opened<larder_dav_answer>::opened;
    /* The HTTP status code; 0 for a request that was sent ahead, until the first response is read. */
    uint32_t code() const { return raw_ ? raw_->status : 0; }
    /* Null at the end and after a failure, which status() tells. */
    const larder_dav_response *next() { return read("dav_answer.next", &larder_dav_answer::next); }
    /* The text of the property with an index in the request; absent if the server has none. */
    static text value(const larder_dav_response &response, std::size_t index) {
        return texts(response.values, response.value_count)[index];
    }
    /* The facts that are known at the end. */
    result<larder_dav_end> end() const {
        larder_dav_end out = make<larder_dav_end>();
        larder_status status = raw_ ? raw_->end(raw_, &out) : LARDER_WRONG_STATE;
        return result<larder_dav_end>(host_->note("dav_answer.end", status), out);
    }
};

/* PROPFIND and REPORT requests. */
class dav : public detail::service<larder_dav> {
public:
    explicit dav(larder::host &host) : service(host, LARDER_EXT_DAV) {}
    dav_answer open(const larder_dav_request &request) const {
        larder_dav_answer *raw = nullptr;
        larder_status status = call("dav.open", &larder_dav::open, &request, &raw);
        return dav_answer(host_, raw, table_ ? table_->close : nullptr, status);
    }
    /* `properties` are names in Clark notation. `flags` is LARDER_DAV_AHEAD or 0. */
    dav_answer open(text method, text target, uint32_t depth, const std::vector<text> &properties, text body = text(),
                    uint32_t flags = 0) const {
        std::vector<larder_str> names(properties.begin(), properties.end());
        larder_dav_request request = make<larder_dav_request>();
        request.depth = depth;
        request.method = method;
        request.target = target;
        request.body = body;
        request.properties = names.empty() ? nullptr : names.data();
        request.property_count = names.size();
        request.flags = flags;
        return open(request);
    }
};

/* The addresses of the account's calendars, address books and files. */
class discover : public detail::service<larder_discover> {
public:
    explicit discover(larder::host &host) : service(host, LARDER_EXT_DISCOVER) {}
    /* The addresses, borrowed for the call; texts(found->homes, found->home_count) lists the homes. */
    result<larder_discovery> find(text what) const {
        larder_discovery out = make<larder_discovery>();
        larder_status status = call("discover.find", &larder_discover::find, what, &out);
        return result<larder_discovery>(status, out);
    }
};

/* --- Plugins. --- */

/* A plugin's identity, of texts that live as long as the library. The services that it requires, and those that it
 * merely wants, are separated by spaces: LARDER_EXT_ACTIONS " " LARDER_EXT_KV. */
struct description {
    description(const char *an_id, const char *a_name, const char *a_version, const char *required_services = "",
                const char *wanted_services = "", const char *a_vendor = "", const char *a_summary = "")
        : id(an_id), name(a_name), version(a_version), required(required_services), wanted(wanted_services),
          vendor(a_vendor), summary(a_summary) {}
    const char *id, *name, *version, *required, *wanted, *vendor, *summary;
};

namespace detail {

class any_plugin {
public:
    virtual ~any_plugin() {}
    /* Called after the constructor, for what may fail. The constructor gets the host too, and may throw. */
    virtual larder_status start() { return LARDER_OK; }
    static const char *schema() { return nullptr; }
};

} // namespace detail

/* A plugin that processes items. A class that derives from it has a constructor that takes a larder::host &, and the
 * static functions description(), kind() and fields() (the mask of the fields that it reads). It may have schema() (the
 * JSON Schema of its settings) and max_records(). It overrides what it needs. A condition that is left empty is
 * absent. */
class processor : public detail::any_plugin {
public:
    static uint64_t max_records() { return 0; }

    virtual uint32_t triggers() { return LARDER_TRIGGERS_ALL; }
    virtual larder_status policy_condition(std::string &) { return LARDER_OK; }
    virtual larder_status match_condition(std::string &) { return LARDER_OK; }
    virtual larder_status cleanup_condition(std::string &) { return LARDER_OK; }
    virtual larder_status update_policies(const policy_list &) { return LARDER_OK; }
    /* `changed` is at its end at once unless the trigger is LARDER_TRIGGER_ITEMS_CHANGED. */
    virtual larder_status preflight(uint32_t, item_cursor &) { return LARDER_OK; }
    virtual larder_status will_enter_trigger(uint32_t) { return LARDER_OK; }
    virtual larder_status begin_matching(uint32_t) { return LARDER_OK; }
    virtual larder_status perform_action(uint32_t, const item &) { return LARDER_OK; }
    virtual larder_status end_matching(uint32_t) { return LARDER_OK; }
    virtual larder_status begin_cleanup(uint32_t) { return LARDER_OK; }
    virtual larder_status perform_cleanup(uint32_t, const item &) { return LARDER_OK; }
    virtual larder_status end_cleanup(uint32_t) { return LARDER_OK; }
    virtual larder_status did_pass_trigger(uint32_t) { return LARDER_OK; }
    /* Says what it makes of an item, for `larder explain`. */
    virtual larder_status explain(const item &, std::string &) { return LARDER_OK; }
};

/* What a poll found: the position after it, and what the loop itself needs to process it. */
template <class Content> struct page {
    std::string event_id;
    Content content;
    uint32_t refresh = 0;
    bool more = false;

    page() : content() {}
};

namespace detail {

class any_loop : public any_plugin {
public:
    static const char *collection() { return ""; }
    static uint32_t refresh_bits() { return 0; }
    static uint32_t hints() { return 0; }

    virtual void on_error(const larder_loop &, const larder_loop_error &) {}
    virtual larder_status poll_raw(const larder_loop &loop, larder_event_page *out) = 0;
    virtual larder_status process_raw(const larder_loop &loop, const larder_event_page *page) = 0;
    virtual larder_status refresh_raw(const larder_loop &loop, uint32_t what, larder_event_page *out) = 0;
    virtual void release_raw(larder_event_page *page) = 0;
};

} // namespace detail

/* A plugin that polls a server for news. A class that derives from it has a constructor that takes a larder::host &, and
 * the static functions description() and kind(). It may have schema(), collection(), refresh_bits() and hints(). It
 * overrides poll, process and refresh, and perhaps on_error. `Content` is a type of its own. */
template <class Content> class event_loop : public detail::any_loop {
public:
    virtual larder_status poll(const larder_loop &which, page<Content> &out) = 0;
    virtual larder_status process(const larder_loop &which, const page<Content> &found) = 0;
    virtual larder_status refresh(const larder_loop &which, uint32_t what, page<Content> &out) = 0;

private:
    typedef page<Content> owned;

    template <class Fill> static larder_status filled(larder_event_page *out, Fill fill) {
        struct holder {
            owned *held;
            ~holder() { delete held; }
        } made = {new owned()};
        larder_status status = fill(*made.held);
        if (status != LARDER_OK) return status;
        out->event_id = text(made.held->event_id);
        out->refresh = made.held->refresh;
        out->more = made.held->more ? 1 : 0;
        out->content = made.held;
        made.held = nullptr;
        return LARDER_OK;
    }
    larder_status poll_raw(const larder_loop &which, larder_event_page *out) override {
        return filled(out, [&](owned &found) { return poll(which, found); });
    }
    larder_status process_raw(const larder_loop &which, const larder_event_page *raw) override {
        return process(which, *static_cast<const owned *>(raw->content));
    }
    larder_status refresh_raw(const larder_loop &which, uint32_t what, larder_event_page *out) override {
        return filled(out, [&](owned &found) { return refresh(which, what, found); });
    }
    void release_raw(larder_event_page *raw) override { delete static_cast<owned *>(raw->content); }
};

/* --- The tables that the host calls. --- */

namespace detail {

/* What is known of a class of plugins without an object of it. */
struct kind_of_plugin {
    larder_descriptor descriptor;
    larder_item_policy_processor processor; /* of size 0 for an event loop */
    larder_event_loop loop;                 /* of size 0 for a processor */
    const char *schema;
    any_plugin *(*make)(host &);
};

/* One plugin at work for one account. */
struct instance {
    larder_instance table;
    larder_explain explain;
    larder_config_schema schema;
    const kind_of_plugin *kind;
    host owner;
    any_plugin *running; /* null unless started */
    std::string lent[4];

    instance(const kind_of_plugin *a_kind, const larder_host *raw)
        : table(), explain(), schema(), kind(a_kind), owner(raw), running(nullptr) {
        table = {sizeof table, 0, this, start, stop, destroy, extension};
        explain = {sizeof explain, 0, say};
        schema = {sizeof schema, 0, hand_out_schema};
    }

    static instance *at(void *context) { return static_cast<instance *>(context); }

    static larder_status start(void *context) {
        instance *self = at(context);
        larder_status status = self->owner.guard([self] {
            self->running = self->kind->make(self->owner);
            return self->running->start();
        });
        if (status != LARDER_OK) stop(context);
        return status;
    }
    static void stop(void *context) {
        instance *self = at(context);
        delete self->running;
        self->running = nullptr;
    }
    static void destroy(void *context) { delete at(context); }
    static const void *extension(void *context, larder_str name) {
        const instance *self = at(context);
        const text wanted = name;
        if (wanted == LARDER_EXT_CONFIG_SCHEMA) return self->kind->schema ? &self->schema : nullptr;
        if (wanted == LARDER_EXT_EVENT_LOOP) return self->kind->loop.struct_size ? &self->kind->loop : nullptr;
        if (!self->kind->processor.struct_size) return nullptr;
        if (wanted == LARDER_EXT_ITEM_POLICY_PROCESSOR) return &self->kind->processor;
        return wanted == LARDER_EXT_EXPLAIN ? &self->explain : nullptr;
    }

    /* Calls the object, if the plugin is started. */
    template <class Plugin, class Body> static larder_status call(void *context, Body body) noexcept {
        instance *self = at(context);
        if (!self->running) return LARDER_WRONG_STATE;
        return self->owner.guard([&] { return body(*static_cast<Plugin *>(self->running)); });
    }
    /* Calls one of the processor's functions with its arguments. */
    template <class... Parameters, class... Arguments>
    static larder_status pass(void *context, larder_status (processor::*function)(Parameters...), Arguments &&...with) {
        return call<processor>(context, [&](processor &self) { return (self.*function)(with...); });
    }
    /* Lends a text of the plugin to the host, until the next one of its kind. */
    template <class Ask> static larder_status lend(void *context, int place, larder_str *out, Ask ask) {
        return call<processor>(context, [&](processor &self) {
            std::string made;
            larder_status status = ask(self, made);
            std::string &kept = at(context)->lent[place];
            if (status != LARDER_OK) return status;
            kept.swap(made);
            if (!kept.empty()) *out = text(kept);
            return status;
        });
    }
    static larder_status say(void *context, const larder_item *raw, larder_str *out) {
        return lend(context, 3, out,
                    [raw](processor &self, std::string &text) { return self.explain(item(raw), text); });
    }
    static larder_status hand_out_schema(void *context, larder_str *out) {
        *out = text(at(context)->kind->schema);
        return LARDER_OK;
    }

    static larder_item_policy_processor processor_table(const char *kind, uint64_t fields, uint64_t max_records) {
        larder_item_policy_processor made = make<larder_item_policy_processor>();
        made.kind = text(kind);
        made.fields = fields;
        made.max_records = max_records;
        made.triggers = [](void *me) {
            uint32_t wanted = 0;
            call<processor>(me, [&](processor &self) {
                wanted = self.triggers();
                return LARDER_OK;
            });
            return wanted;
        };
        made.policy_condition = [](void *me, larder_str *out) {
            return lend(me, 0, out, [](processor &self, std::string &text) { return self.policy_condition(text); });
        };
        made.match_condition = [](void *me, larder_str *out) {
            return lend(me, 1, out, [](processor &self, std::string &text) { return self.match_condition(text); });
        };
        made.cleanup_condition = [](void *me, larder_str *out) {
            return lend(me, 2, out, [](processor &self, std::string &text) { return self.cleanup_condition(text); });
        };
        made.update_policies = [](void *me, const larder_policy_list *list) {
            return pass(me, &processor::update_policies, policy_list(*list));
        };
        made.preflight = [](void *me, uint32_t trigger, larder_item_cursor *changed) {
            item_cursor cursor(&at(me)->owner, changed, nullptr, LARDER_OK);
            return pass(me, &processor::preflight, trigger, cursor);
        };
        made.will_enter_trigger = [](void *me, uint32_t trigger) {
            return pass(me, &processor::will_enter_trigger, trigger);
        };
        made.begin_matching = [](void *me, uint32_t trigger) { return pass(me, &processor::begin_matching, trigger); };
        made.perform_action = [](void *me, uint32_t trigger, const larder_item *raw) {
            return pass(me, &processor::perform_action, trigger, item(raw));
        };
        made.end_matching = [](void *me, uint32_t trigger) { return pass(me, &processor::end_matching, trigger); };
        made.begin_cleanup = [](void *me, uint32_t trigger) { return pass(me, &processor::begin_cleanup, trigger); };
        made.perform_cleanup = [](void *me, uint32_t trigger, const larder_item *raw) {
            return pass(me, &processor::perform_cleanup, trigger, item(raw));
        };
        made.end_cleanup = [](void *me, uint32_t trigger) { return pass(me, &processor::end_cleanup, trigger); };
        made.did_pass_trigger = [](void *me, uint32_t trigger) {
            return pass(me, &processor::did_pass_trigger, trigger);
        };
        return made;
    }

    static larder_event_loop loop_table(const char *kind, const char *collection, uint32_t refresh_bits,
                                        uint32_t hints) {
        larder_event_loop made = make<larder_event_loop>();
        made.kind = text(kind);
        if (*collection) made.collection = text(collection);
        made.refresh_bits = refresh_bits;
        made.hints = hints;
        made.poll = [](void *me, const larder_loop *which, larder_event_page *out) {
            return call<any_loop>(me, [&](any_loop &self) { return self.poll_raw(*which, out); });
        };
        made.process = [](void *me, const larder_loop *which, const larder_event_page *page) {
            return call<any_loop>(me, [&](any_loop &self) { return self.process_raw(*which, page); });
        };
        made.refresh = [](void *me, const larder_loop *which, uint32_t what, larder_event_page *out) {
            return call<any_loop>(me, [&](any_loop &self) { return self.refresh_raw(*which, what, out); });
        };
        made.on_error = [](void *me, const larder_loop *which, const larder_loop_error *why) {
            call<any_loop>(me, [&](any_loop &self) {
                self.on_error(*which, *why);
                return LARDER_OK;
            });
        };
        made.release_page = [](void *me, larder_event_page *page) {
            call<any_loop>(me, [&](any_loop &self) {
                self.release_raw(page);
                return LARDER_OK;
            });
        };
        return made;
    }
};

template <class Plugin> void fill(kind_of_plugin &made, processor *) {
    made.processor = instance::processor_table(Plugin::kind(), Plugin::fields(), Plugin::max_records());
}
template <class Plugin> void fill(kind_of_plugin &made, any_loop *) {
    made.loop = instance::loop_table(Plugin::kind(), Plugin::collection(), Plugin::refresh_bits(), Plugin::hints());
}

/* What is there once in a library is hidden, so that two libraries in one host do not share it. */
template <class Plugin> __attribute__((visibility("hidden"))) const kind_of_plugin *known() {
    static const kind_of_plugin made = [] {
        kind_of_plugin kind = kind_of_plugin();
        const description about = Plugin::description();
        const auto optional = [](const char *chars) { return *chars ? text(chars) : text(); };
        kind.descriptor = make<larder_descriptor>();
        kind.descriptor.id = text(about.id);
        kind.descriptor.name = text(about.name);
        kind.descriptor.version = text(about.version);
        kind.descriptor.vendor = optional(about.vendor);
        kind.descriptor.summary = optional(about.summary);
        kind.descriptor.required = optional(about.required);
        kind.descriptor.wanted = optional(about.wanted);
        kind.schema = Plugin::schema();
        kind.make = [](host &owner) -> any_plugin * { return new Plugin(owner); };
        fill<Plugin>(kind, static_cast<Plugin *>(nullptr));
        return kind;
    }();
    return &made;
}

template <class... Plugins> struct __attribute__((visibility("hidden"))) library {
    static const kind_of_plugin *plugin_at(std::size_t index) {
        const kind_of_plugin *const all[] = {known<Plugins>()...};
        return index < sizeof...(Plugins) ? all[index] : nullptr;
    }
    static const larder_descriptor *describe(uint32_t index) noexcept {
        const kind_of_plugin *kind = plugin_at(index);
        return kind ? &kind->descriptor : nullptr;
    }
    static larder_status create(larder_str id, const larder_host *host, const larder_instance **out) noexcept {
        for (std::size_t index = 0; const kind_of_plugin *kind = plugin_at(index); index++) {
            if (text(kind->descriptor.id) != text(id)) continue;
            instance *made = new (std::nothrow) instance(kind, host);
            if (!made) return LARDER_LIMIT;
            *out = &made->table;
            return LARDER_OK;
        }
        return LARDER_NOT_FOUND;
    }
    static const larder_module *module() {
        static const larder_module made = {sizeof made, LARDER_ABI_MINOR, describe, create};
        return &made;
    }
};

} // namespace detail

} // namespace larder

#endif
