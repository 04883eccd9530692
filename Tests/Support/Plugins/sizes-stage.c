/* Puts the plugin in sizes.c on the fake host's stage. Both may have been compiled with headers of another version. */
#include <LarderFakeHost.h>
#include <stdio.h>
#include <string.h>

extern unsigned sizes_checked, sizes_wrong[], sizes_wrong_count;

static void put_policy(larder_fake *fake, const char *condition) {
    larder_policy policy;
    memset(&policy, 0, sizeof policy);
    policy.struct_size = sizeof policy;
    policy.id = policy.condition = larder_str_make(condition, strlen(condition));
    policy.kind = LARDER_STR("org.example.sizes");
    larder_fake_put_policy(fake, &policy);
}

int main(void) {
    static const char *homes[] = {"/cal/ada/"};
    larder_fake *fake = larder_fake_for(larder_plugin_entry_v1);
    larder_record record;
    put_policy(fake, "size == 1");
    put_policy(fake, "size == 2");
    larder_fake_room(fake, 11, 12, 13, 14);
    larder_fake_quota(fake, 1 << 20);
    memset(&record, 0, sizeof record);
    record.struct_size = sizeof record;
    record.key = LARDER_STR("one");
    record.value = LARDER_STR("{\"a\":1}");
    larder_fake_put_record(fake, "things", &record);
    larder_fake_homes(fake, "/principals/ada/", homes, 1);
    larder_fake_answer(fake, "GET", "/a", 200, 0);
    larder_fake_answer_dav(fake, "PROPFIND", "/b/", 207);
    larder_fake_response(fake, "/b/1", 200, 0);
    larder_fake_end_dav(fake, "token-1", 0, 0);
    larder_fake_set_event_id(fake, "org.example.sizes", "0");
    if (larder_fake_start(fake, "org.example.sizes") != LARDER_OK
        || larder_fake_run(fake, LARDER_TRIGGER_POLICIES_CHANGED, 0, 0) != LARDER_OK
        || larder_fake_poll(fake, "org.example.sizes") != LARDER_OK) {
        printf("problem: %s\n", larder_fake_problem(fake) ? larder_fake_problem(fake) : "a call failed");
        return 1;
    }
    printf("checked %u, wrong:", sizes_checked);
    for (unsigned i = 0; i < sizes_wrong_count; i++) printf(" %u", sizes_wrong[i]);
    printf("\n");
    larder_fake_free(fake);
    /* Each start of a plugin leaves something that is never freed. A search for leaks finds none of it. */
    for (int i = 0; i < 3; i++) {
        fake = larder_fake_for(larder_plugin_entry_v1);
        for (int k = 0; k < 2; k++) {
            if (larder_fake_start(fake, "org.example.sizes") != LARDER_OK) return 1;
            larder_fake_stop(fake);
        }
        larder_fake_free(fake);
    }
    return sizes_wrong_count != 0;
}
