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

#define ID "org.example.plugin-name"
#define FEED "/apps/plugin-name/since/"

int main(int count, char **words) {
    larder_fake *fake = larder_fake_open(count > 1 ? words[1] : "out/plugin-name.so");
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    /* The first turn knows nothing, and fetches everything. */
    larder_fake_answer(fake, "GET", FEED "0", 200, "7\na\nb\n");
    CHECK(larder_fake_poll(fake, ID) == LARDER_OK);
    CHECK(std::string(larder_fake_event_id(fake, ID)) == "7");
    CHECK(larder_fake_record(fake, ID, "a") && larder_fake_record(fake, ID, "b"));
    larder_fake_answer(fake, "GET", FEED "7", 200, "8\nc\n");
    CHECK(larder_fake_poll(fake, ID) == LARDER_OK);
    CHECK(std::string(larder_fake_event_id(fake, ID)) == "8");
    CHECK(larder_fake_record(fake, ID, "c"));
    /* A server that fails takes nothing away. */
    larder_fake_answer(fake, "GET", FEED "8", 500, nullptr);
    CHECK(larder_fake_poll(fake, ID) == LARDER_IO);
    larder_fake_answer(fake, "GET", FEED "8", 200, "no news");
    CHECK(larder_fake_poll(fake, ID) == LARDER_IO);
    CHECK(std::string(larder_fake_event_id(fake, ID)) == "8");
    CHECK(larder_fake_record(fake, ID, "a") && larder_fake_record(fake, ID, "c"));
    /* One that has none is asked again a day later. */
    larder_fake_answer(fake, "GET", FEED "8", 404, nullptr);
    CHECK(larder_fake_poll(fake, ID) == LARDER_UNSUPPORTED);
    /* A call of the host that it would refuse. */
    CHECK(larder_fake_count(fake, LARDER_FAKE_MISTAKE) == 0);
    larder_fake_free(fake);
    return 0;
}
