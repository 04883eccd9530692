/* A plugin put together by larder/single.h, and a program that reports what is wrong with the plugin, line by line.
 * C and C++. With CONSTRUCTED, which is C++ alone, the plugin's struct has a constructor. */
#include <larder/larder.h>
#include <larder/single.h>
#include <stdio.h>
#include <string.h>

struct own {
    uint64_t number;
    const larder_host *host;
    larder_instance instance;
#ifdef CONSTRUCTED
    uint64_t constructed = 1;
#endif
};

static larder_status start(void *me) { return ((struct own *)me)->number ? LARDER_FAILED : LARDER_DENIED; }

static larder_status schema_text(void *me, larder_str *out) { (void)me; *out = LARDER_STR("{}"); return LARDER_OK; }
static const larder_config_schema schema = {sizeof schema, 0, schema_text};
static const larder_offer offers[] = {{LARDER_EXT_CONFIG_SCHEMA, &schema}, {LARDER_EXT_EVENT_LOOP, NULL}};

LARDER_SINGLE(struct own, start, larder_no_stop, offers, "org.example.single", "Single", "1." "0",
              "", "Has a \"summary\"", LARDER_EXT_LOG " " LARDER_EXT_KV, "");

static int wrong;
#define CHECK(holds) ((holds) ? (void)0 : (void)(wrong++, printf("%d: %s\n", __LINE__, #holds)))

static int is(larder_str text, const char *other) {
    return text.len == strlen(other) && !memcmp(text.ptr, other, strlen(other));
}

int main(void) {
    larder_host hosts[2];
    const larder_module *module = NULL, *again = NULL;
    const larder_descriptor *about;
    const larder_instance *one = NULL, *other = NULL;
    memset(hosts, 0, sizeof hosts);
    CHECK(larder_plugin_entry_v1(LARDER_ABI_MINOR, &module) == LARDER_OK && module->struct_size == sizeof *module);
    CHECK(larder_plugin_entry_v1(LARDER_ABI_MINOR + 1, &again) == LARDER_OK && module == again);
    CHECK(module->abi_minor == LARDER_ABI_MINOR);

    about = module->describe(0);
    CHECK(about && about == module->describe(0) && about->struct_size == sizeof *about && !module->describe(1));
    CHECK(is(about->id, "org.example.single") && is(about->name, "Single") && is(about->version, "1.0"));
    CHECK(is(about->summary, "Has a \"summary\"") && is(about->required, "larder.log/1 larder.kv/1"));
    CHECK(!about->vendor.ptr && !about->vendor.len && !about->wanted.ptr && !about->wanted.len);

    CHECK(module->create(LARDER_STR("org.example.singl"), hosts, &one) == LARDER_NOT_FOUND && !one);
    CHECK(module->create(LARDER_STR("org.example.other!"), hosts, &one) == LARDER_NOT_FOUND && !one);
    CHECK(module->create(larder_str_make(NULL, 0), hosts, &one) == LARDER_NOT_FOUND && !one);
    CHECK(module->create(about->id, &hosts[0], &one) == LARDER_OK
          && module->create(about->id, &hosts[1], &other) == LARDER_OK);
    CHECK(one != other && one->struct_size == sizeof *one && one->context != other->context);
    CHECK(one == &((struct own *)one->context)->instance && ((struct own *)one->context)->number == 0);
    CHECK(((struct own *)one->context)->host == &hosts[0] && ((struct own *)other->context)->host == &hosts[1]);
    ((struct own *)other->context)->number = 1;
    CHECK(one->start(one->context) == LARDER_DENIED && other->start(other->context) == LARDER_FAILED);

    CHECK(one->extension(one->context, LARDER_STR(LARDER_EXT_CONFIG_SCHEMA)) == &schema);
    CHECK(!one->extension(one->context, LARDER_STR(LARDER_EXT_EVENT_LOOP)));
    CHECK(!one->extension(one->context, LARDER_STR("larder.config-schema/2")));
    CHECK(!one->extension(one->context, LARDER_STR("larder.config-schema/")));
    CHECK(!one->extension(one->context, larder_str_make(NULL, 0)));
    CHECK(larder_no_start(one->context) == LARDER_OK);
    one->stop(one->context);
    one->destroy(one->context);
    other->destroy(other->context);
    return wrong != 0;
}
