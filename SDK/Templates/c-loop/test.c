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

#define ID "org.example.plugin-name"
#define FEED "/apps/plugin-name/since/"

int main(int count, char **words) {
    larder_fake *fake = larder_fake_open(count > 1 ? words[1] : "out/plugin-name.so");
    CHECK(larder_fake_start(fake, ID) == LARDER_OK);
    /* The first turn knows nothing, and fetches everything. */
    larder_fake_answer(fake, "GET", FEED "0", 200, "7\na\nb\n");
    CHECK(larder_fake_poll(fake, ID) == LARDER_OK);
    CHECK(strcmp(larder_fake_event_id(fake, ID), "7") == 0);
    CHECK(larder_fake_record(fake, ID, "a") && larder_fake_record(fake, ID, "b"));
    larder_fake_answer(fake, "GET", FEED "7", 200, "8\nc\n");
    CHECK(larder_fake_poll(fake, ID) == LARDER_OK);
    CHECK(strcmp(larder_fake_event_id(fake, ID), "8") == 0);
    CHECK(larder_fake_record(fake, ID, "c"));
    /* A server that fails takes nothing away. */
    larder_fake_answer(fake, "GET", FEED "8", 500, NULL);
    CHECK(larder_fake_poll(fake, ID) == LARDER_IO);
    larder_fake_answer(fake, "GET", FEED "8", 200, "no news");
    CHECK(larder_fake_poll(fake, ID) == LARDER_IO);
    CHECK(strcmp(larder_fake_event_id(fake, ID), "8") == 0);
    CHECK(larder_fake_record(fake, ID, "a") && larder_fake_record(fake, ID, "c"));
    /* One that has none is asked again a day later. */
    larder_fake_answer(fake, "GET", FEED "8", 404, NULL);
    CHECK(larder_fake_poll(fake, ID) == LARDER_UNSUPPORTED);
    /* A call of the host that it would refuse. */
    CHECK(larder_fake_count(fake, LARDER_FAKE_MISTAKE) == 0);
    larder_fake_free(fake);
    return 0;
}
