#include <LarderFakeHost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#define ID "org.example.archive"
#define SECOND INT64_C(1000000000)
/* 2026-11-30T00:00:00Z, and the moments in which other years begin, in nanoseconds since 1970. */
#define NOW (INT64_C(1795996800) * SECOND)
#define YEAR_2019 (INT64_C(1546300800) * SECOND)
#define YEAR_2020 (INT64_C(1577836800) * SECOND)

static const char *library;

static larder_str lent(const char *text) { return larder_str_make(text, strlen(text)); }

/* Opens the library on a fake host that grants the plugin changes of the server. */
static larder_fake *open_with(const char *settings) {
    larder_fake *fake = larder_fake_open(library);
    larder_fake_settings(fake, settings);
    larder_fake_grant(fake, "server-changes");
    larder_fake_time(fake, NOW, 0);
    return fake;
}

static void end(larder_fake *fake) {
    /* A call of the host that it would refuse. */
    CHECK(larder_fake_count(fake, LARDER_FAKE_MISTAKE) == 0);
    larder_fake_free(fake);
}

/* Puts a file on the stage. */
static void put_as(larder_fake *fake, const char *id, const char *path, int64_t modified, uint32_t cloud_status,
                   uint32_t claims) {
    larder_item item;
    memset(&item, 0, sizeof item);
    item.struct_size = sizeof item;
    item.present = LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID) | LARDER_FIELD_BIT(LARDER_FIELD_PATH) |
                   LARDER_FIELD_BIT(LARDER_FIELD_TYPE) | LARDER_FIELD_BIT(LARDER_FIELD_SIZE) |
                   LARDER_FIELD_BIT(LARDER_FIELD_LAST_MODIFIED) | LARDER_FIELD_BIT(LARDER_FIELD_CLOUD_STATUS) |
                   LARDER_FIELD_BIT(LARDER_FIELD_REMOVED) | LARDER_FIELD_BIT(LARDER_FIELD_CLAIMS);
    item.local_id = lent(id);
    item.path = lent(path);
    item.last_modified = modified;
    item.cloud_status = cloud_status;
    item.claims = claims;
    larder_fake_put_item(fake, &item);
}

/* Puts a file on the server, whose id is its path. */
static void put(larder_fake *fake, const char *path, int64_t modified) {
    put_as(fake, path, path, modified, LARDER_CLOUD_STATUS_CLOUD_ONLY, 0);
}

static void run(larder_fake *fake) {
    larder_fake_forget(fake);
    CHECK(larder_fake_run(fake, LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES, NULL, 0) == LARDER_OK);
}

static const larder_fake_entry *action(larder_fake *fake, size_t index) {
    return larder_fake_entry_at(fake, LARDER_FAKE_ACTION, index);
}

/* Tells whether a request is for a folder, or for a move from a path. */
static int makes(larder_fake *fake, size_t index, const char *target) {
    const larder_fake_entry *entry = action(fake, index);
    return entry && strcmp(entry->name, "create_folder") == 0 && strcmp(entry->target, target) == 0;
}
static int moves(larder_fake *fake, size_t index, const char *from, const char *target) {
    const larder_fake_entry *entry = action(fake, index);
    return entry && strcmp(entry->name, "move") == 0 && strcmp(entry->id, from) == 0 &&
           strcmp(entry->target, target) == 0;
}

static size_t count_moves(larder_fake *fake) {
    size_t count = 0, index;
    for (index = 0; action(fake, index); index++) count += strcmp(action(fake, index)->name, "move") == 0;
    return count;
}

static int says(larder_fake *fake, const char *path, const char *expected) {
    const char *text = larder_fake_explain(fake, path);
    return expected ? text && strcmp(text, expected) == 0 : text == NULL;
}

static void old_files_move_into_the_folder_of_their_year(void) {
    larder_fake *fake = open_with("{}");
    put(fake, "/Docs/a/list.txt", YEAR_2020 - 1);
    put(fake, "/Docs/b/list.txt", YEAR_2020 - 1);
    put(fake, "/Docs/b/new year.txt", YEAR_2020);
    put(fake, "/top", -1);
    put(fake, "/Docs/young", NOW - INT64_C(1825) * 86400 * SECOND);
    put(fake, "/Archive/2019/kept", YEAR_2019);
    put(fake, "/Archives/near", YEAR_2019);
    put_as(fake, "changed", "/changed", YEAR_2019, LARDER_CLOUD_STATUS_LOCALLY_MODIFIED, 0);
    put_as(fake, "only here", "/only here", YEAR_2019, LARDER_CLOUD_STATUS_LOCAL_ONLY, 0);
    put_as(fake, "claimed", "/claimed", YEAR_2019, LARDER_CLOUD_STATUS_LOCAL_COPY, LARDER_CLAIM_WRITE);
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    run(fake);
    CHECK(makes(fake, 0, "/Archive") && makes(fake, 1, "/Archive/2019") && makes(fake, 2, "/Archive/2019/Archives"));
    CHECK(moves(fake, 3, "/Archives/near", "/Archive/2019/Archives/near"));
    CHECK(makes(fake, 4, "/Archive/2019/Docs") && makes(fake, 5, "/Archive/2019/Docs/a"));
    CHECK(moves(fake, 6, "/Docs/a/list.txt", "/Archive/2019/Docs/a/list.txt"));
    CHECK(makes(fake, 7, "/Archive/2019/Docs/b"));
    CHECK(moves(fake, 8, "/Docs/b/list.txt", "/Archive/2019/Docs/b/list.txt"));
    CHECK(makes(fake, 9, "/Archive/2020") && makes(fake, 10, "/Archive/2020/Docs"));
    CHECK(makes(fake, 11, "/Archive/2020/Docs/b"));
    CHECK(moves(fake, 12, "/Docs/b/new year.txt", "/Archive/2020/Docs/b/new year.txt"));
    CHECK(makes(fake, 13, "/Archive/1969"));
    CHECK(moves(fake, 14, "/top", "/Archive/1969/top"));
    CHECK(!action(fake, 15));
    end(fake);
}

static void a_file_in_the_place_of_a_folder_keeps_only_its_own_from_moving(void) {
    larder_fake *fake = open_with("{\"at-once\": 1}");
    put(fake, "/Archive/2019/Docs", YEAR_2019);
    put(fake, "/Docs/a/b", YEAR_2019);
    put(fake, "/Docs/c", YEAR_2019);
    put(fake, "/d", YEAR_2019);
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    run(fake);
    CHECK(count_moves(fake) == 1 && moves(fake, 2, "/d", "/Archive/2019/d"));
    CHECK(strcmp(larder_fake_entry_at(fake, LARDER_FAKE_LOG, 0)->text,
                 "old files that stay where they are: 2, such as /Docs/a/b: /Archive/2019/Docs is there already") == 0);
    larder_fake_drop_item(fake, "/d");
    run(fake);
    CHECK(says(fake, "/Docs/c",
               "it stays where it is, since the archive has something already at /Archive/2019/Docs"));
    end(fake);
}

static void a_name_that_is_taken_stays_and_is_told_once(void) {
    larder_fake *fake = open_with("{\"at-once\": 1}");
    put(fake, "/a \"b\"", YEAR_2019);
    put(fake, "/Archive/2019/a \"b\"", NOW);
    put(fake, "/c", YEAR_2019);
    put(fake, "/d", YEAR_2019);
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    run(fake);
    /* It does not keep others from moving. */
    CHECK(count_moves(fake) == 1 && moves(fake, 2, "/c", "/Archive/2019/c"));
    CHECK(larder_fake_count(fake, LARDER_FAKE_LOG) == 1);
    CHECK(strcmp(larder_fake_entry_at(fake, LARDER_FAKE_LOG, 0)->text,
                 "old files that stay where they are: 1, such as /a \"b\": /Archive/2019/a \"b\" is there already") == 0);
    run(fake);
    CHECK(larder_fake_count(fake, LARDER_FAKE_LOG) == 0);
    larder_fake_drop_item(fake, "/c");
    larder_fake_drop_item(fake, "/d");
    run(fake);
    CHECK(count_moves(fake) == 0);
    CHECK(says(fake, "/a \"b\"",
               "it stays where it is, since the archive has something already at /Archive/2019/a \"b\""));
    larder_fake_drop_item(fake, "/Archive/2019/a \"b\"");
    run(fake);
    CHECK(moves(fake, 2, "/a \"b\"", "/Archive/2019/a \"b\""));
    CHECK(says(fake, "/a \"b\"", "nobody has modified it for so long that it moves to /Archive/2019/a \"b\""));
    CHECK(says(fake, "/nothing", NULL));
    end(fake);
}

static void the_settings_are_heeded(void) {
    larder_fake *fake =
        open_with("{\"folder\": \"/My \\\"docs\\\"/\", \"archive\": \"/My \\\"docs\\\"/old/\", \"years\": 1}");
    put(fake, "/My \"docs\"/a", NOW - INT64_C(8767) * 3600 * SECOND);
    put(fake, "/My \"docs\"/young", NOW - INT64_C(8765) * 3600 * SECOND);
    put(fake, "/My \"docs\"/old/2019/kept", YEAR_2019);
    put(fake, "/elsewhere", YEAR_2019);
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    run(fake);
    CHECK(makes(fake, 0, "/My \"docs\"") && makes(fake, 1, "/My \"docs\"/old"));
    CHECK(makes(fake, 2, "/My \"docs\"/old/2025"));
    CHECK(moves(fake, 3, "/My \"docs\"/a", "/My \"docs\"/old/2025/a"));
    CHECK(!action(fake, 4));
    end(fake);
}

static void wrong_settings_are_refused(void) {
    static const char *const wrong[][2] = {
        {"{\"folder\": \"Docs\"}", "from the root"},
        {"{\"folder\": \"\"}", "from the root"},
        {"{\"archive\": \"/\"}", "from the root"},
        {"{\"archive\": \"/a/../b\"}", "from the root"},
        {"{\"archive\": \"/a//b\"}", "from the root"},
        {"{\"folder\": \"/Archive/\"}", "names a folder of the archive"},
        {"{\"folder\": \"/Archive/2019\"}", "names a folder of the archive"},
        {"{\"years\": 0}", "at least 1"},
        {"{\"at-once\": 100000}", "at most 1000"},
        {"{\"year\": 5}", "years"},
    };
    size_t index;
    for (index = 0; index < sizeof wrong / sizeof *wrong; index++) {
        larder_fake *fake = open_with(wrong[index][0]);
        CHECK(larder_fake_start(fake, ID) != LARDER_OK);
        CHECK(strstr(larder_fake_problem(fake), wrong[index][1]));
        end(fake);
    }
}

static void without_the_grant_nothing_moves_and_one_line_says_so(void) {
    larder_fake *fake = larder_fake_open(library);
    larder_fake_time(fake, NOW, 0);
    put(fake, "/a", YEAR_2019);
    put(fake, "/b", YEAR_2019);
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    run(fake);
    CHECK(!action(fake, 0) && larder_fake_count(fake, LARDER_FAKE_LOG) == 1);
    CHECK(says(fake, "/a", "it stays where it is until the config grants this plugin `server-changes`"));
    run(fake);
    CHECK(!action(fake, 0) && larder_fake_count(fake, LARDER_FAKE_LOG) == 0);
    end(fake);
}

static void a_thousand_files_move_a_few_at_a_time(void) {
    larder_fake *fake = open_with("{\"at-once\": 300}");
    char path[32];
    int number, round;
    for (number = 0; number < 1000; number++) {
        snprintf(path, sizeof path, "/%d/f", number);
        put(fake, path, YEAR_2019);
    }
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    for (round = 0; round < 4; round++) {
        size_t index;
        run(fake);
        CHECK(count_moves(fake) == (round < 3 ? 300 : 100));
        /* What a host does: the files are at their new places. */
        for (index = 0; action(fake, index); index++) {
            if (strcmp(action(fake, index)->name, "move") != 0) continue;
            snprintf(path, sizeof path, "%s", action(fake, index)->id);
            larder_fake_drop_item(fake, path);
        }
    }
    run(fake);
    CHECK(!action(fake, 0));
    end(fake);
}

static void a_path_that_becomes_too_long_stays(void) {
    static char path[9000];
    larder_fake *fake = open_with("{}");
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    put_as(fake, "8f31", path, YEAR_2019, LARDER_CLOUD_STATUS_CLOUD_ONLY, 0);
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    run(fake);
    CHECK(!action(fake, 0) && larder_fake_count(fake, LARDER_FAKE_LOG) == 1);
    end(fake);
}

int main(int count, char **words) {
    library = count > 1 ? words[1] : "out/archive.so";
    old_files_move_into_the_folder_of_their_year();
    a_file_in_the_place_of_a_folder_keeps_only_its_own_from_moving();
    a_name_that_is_taken_stays_and_is_told_once();
    the_settings_are_heeded();
    wrong_settings_are_refused();
    without_the_grant_nothing_moves_and_one_line_says_so();
    a_thousand_files_move_a_few_at_a_time();
    a_path_that_becomes_too_long_stays();
    return 0;
}
