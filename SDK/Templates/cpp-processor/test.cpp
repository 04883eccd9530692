#include <LarderFakeHost.h>
#include <cstdio>
#include <cstdlib>
#include <string>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                      \
        }                                                                      \
    } while (0)

static void put(larder_fake *fake, larder_str id, uint32_t favorite) {
    larder_item item = larder_item();
    item.struct_size = sizeof item;
    item.present = LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID) | LARDER_FIELD_BIT(LARDER_FIELD_FAVORITE);
    item.local_id = id;
    item.favorite = favorite;
    larder_fake_put_item(fake, &item);
}

int main(int count, char **words) {
    larder_fake *fake = larder_fake_open(count > 1 ? words[1] : "out/plugin-name.so");
    put(fake, LARDER_STR("8f31"), 1);
    put(fake, LARDER_STR("5f21"), 0);
    CHECK(larder_fake_start(fake, "org.example.plugin-name") == LARDER_OK);
    CHECK(larder_fake_run(fake, LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED, nullptr, 0) == LARDER_OK);
    CHECK(larder_fake_count(fake, LARDER_FAKE_ACTION) == 1);
    CHECK(std::string(larder_fake_entry_at(fake, LARDER_FAKE_ACTION, 0)->name) == "download");
    CHECK(std::string(larder_fake_entry_at(fake, LARDER_FAKE_ACTION, 0)->id) == "8f31");
    /* A call of the host that it would refuse. */
    CHECK(larder_fake_count(fake, LARDER_FAKE_MISTAKE) == 0);
    larder_fake_free(fake);
    return 0;
}
