#include <LarderFakeHost.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                      \
        }                                                                      \
    } while (0)

#define ID "org.example.this-month"

static const char *library;

/* Times in UTC, in nanoseconds since 1970. */
static const int64_t second = INT64_C(1000000000);
static const int64_t november = INT64_C(1793491200) * second; /* 2026-11-01T00:00:00Z */
static const int64_t december = november + 30 * 86400 * second;
static const int64_t january = december + 31 * 86400 * second; /* 2027 */

/* A file on the server, or a copy of one here. */
struct file {
    std::string path;
    int64_t modified;
    int64_t size;
    const char *copy_of; /* null: there is no copy */
    bool outdated;

    file(const std::string &a_path, int64_t a_time, int64_t a_size = 1)
        : path(a_path), modified(a_time), size(a_size), copy_of(nullptr), outdated(false) {}
    file &here(const char *trigger) {
        copy_of = trigger;
        return *this;
    }
    file &newer() {
        outdated = true;
        return *this;
    }
};

static larder_str lent(const char *text) { return larder_str_make(text, std::strlen(text)); }

/* The fake host with the plugin. A file's id is its path. */
class stage {
public:
    explicit stage(const char *settings = "{}") : fake(larder_fake_open(library)) {
        larder_fake_settings(fake, settings);
        larder_fake_time(fake, november, 0);
    }
    ~stage() {
        /* A call of the host that it would refuse. */
        CHECK(larder_fake_count(fake, LARDER_FAKE_MISTAKE) == 0);
        larder_fake_free(fake);
    }
    larder_status start() { return larder_fake_start(fake, ID); }
    void time(int64_t now) { larder_fake_time(fake, now, 0); }

    void put(const file &file) {
        larder_item item = larder_item();
        item.struct_size = sizeof item;
        const uint32_t present[] = {LARDER_FIELD_LOCAL_ID, LARDER_FIELD_PATH,          LARDER_FIELD_TYPE,
                                    LARDER_FIELD_SIZE,     LARDER_FIELD_LAST_MODIFIED, LARDER_FIELD_REMOVED,
                                    LARDER_FIELD_ETAG,     LARDER_FIELD_CLOUD_STATUS};
        for (uint32_t field : present) item.present |= LARDER_FIELD_BIT(field);
        item.local_id = item.path = lent(file.path.c_str());
        item.etag = lent("1");
        item.type = LARDER_TYPE_FILE;
        item.size = file.size;
        item.last_modified = file.modified;
        if (file.copy_of) {
            for (uint32_t field : {LARDER_FIELD_DOWNLOAD_TRIGGER, LARDER_FIELD_REMOTE_VERSION})
                item.present |= LARDER_FIELD_BIT(field);
            item.cloud_status = LARDER_CLOUD_STATUS_LOCAL_COPY;
            item.download_trigger = lent(file.copy_of);
            item.remote_version = file.outdated ? LARDER_REMOTE_VERSION_NEWER : LARDER_REMOTE_VERSION_CURRENT;
        }
        larder_fake_put_item(fake, &item);
    }

    /* Makes a run, and returns what it asked for: "+/a" is a download, "-/a" a removal. */
    std::set<std::string> run(uint32_t trigger = LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES,
                              larder_status expected = LARDER_OK) {
        larder_fake_forget(fake);
        CHECK(larder_fake_run(fake, trigger, nullptr, 0) == expected);
        std::set<std::string> asked;
        for (size_t index = 0; index < larder_fake_count(fake, LARDER_FAKE_ACTION); index++) {
            const larder_fake_entry *entry = larder_fake_entry_at(fake, LARDER_FAKE_ACTION, index);
            const bool is_download = std::strcmp(entry->name, "download") == 0;
            CHECK(entry->number == (is_download ? LARDER_DOWNLOAD_WHILE_COVERED
                                                : LARDER_REMOVE_RESTORE_FORMER | LARDER_REMOVE_IF_UNUSED));
            asked.insert((is_download ? "+" : "-") + std::string(entry->id));
        }
        return asked;
    }

    std::string says(const char *path) {
        const char *text = larder_fake_explain(fake, path);
        return text ? text : "";
    }

    larder_fake *fake;
};

typedef std::set<std::string> paths;

static void keeps_what_was_modified_this_month() {
    stage stage;
    stage.time(december - second);
    stage.put(file("/first moment", november));
    stage.put(file("/last moment before", november - 1));
    stage.put(file("/empty", december - second, 0));
    stage.put(file("/ahead", december + second)); /* by a server whose clock is */
    stage.put(file("/outdated", november).here("user").newer());
    stage.put(file("/here", november).here(ID));
    stage.put(file("/the person's", november).here("user"));
    CHECK(stage.start() == LARDER_OK);
    CHECK(stage.run() == paths({"+/first moment", "+/empty", "+/ahead", "+/outdated"}));
}

static void the_turn_of_the_year_is_decided_by_the_run() {
    stage stage;
    stage.time(january - 1);
    stage.put(file("/december", december).here(ID));
    stage.put(file("/december's last", january - 1));
    stage.put(file("/january's first", january));
    stage.put(file("/the person's", december).here("user"));
    stage.put(file("/another's", december).here("availableOffline"));
    CHECK(stage.start() == LARDER_OK);
    CHECK(stage.run() == paths({"+/december's last", "+/january's first"}));
    CHECK(stage.says("/december") == "it was modified this month, and is kept here until the month is over, in UTC");
    stage.time(january);
    /* A run about changed items removes nothing. */
    CHECK(larder_fake_run(stage.fake, LARDER_TRIGGER_ITEMS_CHANGED, nullptr, 0) == LARDER_OK);
    CHECK(larder_fake_cleanup_condition(stage.fake) == nullptr);
    CHECK(stage.run() == paths({"-/december", "+/january's first"}));
    CHECK(stage.says("/december") == "it was last modified in 2026-12, before this month, 2027-01 in UTC");
    /* A clock that goes back takes nothing away that is older. */
    stage.time(november);
    CHECK(stage.run() == paths({"+/december's last", "+/january's first"}));
}

static void months_of_all_lengths_begin_in_utc() {
    const struct {
        int64_t now, begin;
    } months[] = {
        {INT64_C(1709251199), INT64_C(1706745600)}, /* 2024-02-29T23:59:59Z */
        {INT64_C(1709251200), INT64_C(1709251200)}, /* 2024-03-01T00:00:00Z */
        {0, 0},
        {-1, INT64_C(-2678400)}, /* 1969-12-31T23:59:59Z */
    };
    setenv("TZ", "Pacific/Auckland", 1);
    for (const auto &month : months) {
        stage stage;
        stage.time(month.now * second);
        stage.put(file("/in", month.begin * second));
        stage.put(file("/before", month.begin * second - 1));
        CHECK(stage.start() == LARDER_OK);
        CHECK(stage.run() == paths({"+/in"}));
    }
}

static void a_folder_and_a_size_are_settings() {
    stage stage("{\"folder\": \"/My \\\"work\\\"\", \"largest\": \"1kB\"}");
    stage.put(file("/My \"work\"/a", november, 1000));
    stage.put(file("/My \"work\"/sub/b", november, 0));
    stage.put(file("/My \"work\"/large", november, 1001));
    stage.put(file("/My \"work\"shop", november));
    stage.put(file("/elsewhere", november).here(ID)); /* from before the folder was set */
    CHECK(stage.start() == LARDER_OK);
    CHECK(stage.run() == paths({"+/My \"work\"/a", "+/My \"work\"/sub/b", "-/elsewhere"}));
    CHECK(stage.says("/My \"work\"/large") == "it was modified this month, and is larger than the setting `largest`");
    CHECK(stage.says("/elsewhere").empty());
}

static void wrong_settings_are_refused() {
    const char *const wrong[][2] = {
        {"{\"folder\": \"Documents\"}", "from the root"}, {"{\"folder\": \"\"}", "from the root"},
        {"{\"largest\": \"much\"}", "is not a size"},     {"{\"months\": 2}", "months"},
    };
    for (const auto &pair : wrong) {
        stage stage(pair[0]);
        CHECK(stage.start() != LARDER_OK);
        CHECK(std::strstr(larder_fake_problem(stage.fake), pair[1]));
    }
}

static void without_a_time_nothing_is_done() {
    stage stage;
    stage.put(file("/a", november));
    stage.put(file("/b", november - 1).here(ID));
    CHECK(stage.start() == LARDER_OK);
    larder_fake_fail(stage.fake, "clock.now", 1, LARDER_IO);
    CHECK(stage.run(LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED, LARDER_IO).empty());
    CHECK(stage.run() == paths({"+/a", "-/b"}));
}

static void a_thousand_files_come_and_go() {
    stage stage;
    for (int number = 0; number < 1000; number++) stage.put(file("/" + std::to_string(number), november));
    CHECK(stage.start() == LARDER_OK);
    CHECK(stage.run().size() == 1000);
    for (int number = 0; number < 1000; number++) stage.put(file("/" + std::to_string(number), november).here(ID));
    CHECK(stage.run().empty());
    stage.time(december);
    const paths asked = stage.run();
    CHECK(asked.size() == 1000 && asked.count("-/999") == 1);
}

int main(int count, char **words) {
    library = count > 1 ? words[1] : "out/this-month.so";
    keeps_what_was_modified_this_month();
    the_turn_of_the_year_is_decided_by_the_run();
    months_of_all_lengths_begin_in_utc();
    a_folder_and_a_size_are_settings();
    wrong_settings_are_refused();
    without_a_time_nothing_is_done();
    a_thousand_files_come_and_go();
    return 0;
}
