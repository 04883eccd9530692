/* Opening a library, and the life of one plugin. */
#include "fake.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void fails(larder_fake *fake, const char *what, const char *which) {
    size_t size = strlen(what) + strlen(which) + 1;
    free(fake->problem);
    fake->problem = resized(NULL, size);
    memcpy(fake->problem, what, strlen(what));
    memcpy(fake->problem + strlen(what), which, strlen(which) + 1);
}

larder_fake *larder_fake_for(larder_plugin_entry entry) {
    larder_fake *fake = resized(NULL, sizeof *fake);
    memset(fake, 0, sizeof *fake);
    fake->settings = copied("{}");
    fake->policies_changed = 1;
    fake->project_quota = 1000000000;
    fill_host(fake);
    if (!entry) return fake;
    if (entry(LARDER_ABI_MINOR, &fake->module) != LARDER_OK || !fake->module) {
        fake->module = NULL;
        fails(fake, "the entry function hands out no module", "");
    }
    return fake;
}

larder_fake *larder_fake_open(const char *library) {
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *why = opened ? "" : dlerror();
    void *symbol = opened ? dlsym(opened, LARDER_ENTRY) : NULL;
    larder_plugin_entry entry = NULL;
    larder_fake *fake;
    /* POSIX lets a function's address come as a data pointer, ISO C has no cast for it. */
    memcpy(&entry, &symbol, sizeof entry);
    fake = larder_fake_for(entry);
    if (!opened) fails(fake, "cannot open the library: ", why);
    else if (!symbol) fails(fake, "the library does not export ", LARDER_ENTRY);
    return fake;
}

const char *larder_fake_problem(const larder_fake *fake) { return fake->problem; }

const larder_descriptor *larder_fake_describe(const larder_fake *fake, uint32_t index) {
    return fake->module ? fake->module->describe(index) : NULL;
}

larder_status larder_fake_start(larder_fake *fake, const char *id) {
    larder_str name = LARDER_STR(LARDER_EXT_ITEM_POLICY_PROCESSOR);
    larder_status status;
    if (!fake->module || fake->instance) return LARDER_WRONG_STATE;
    status = fake->module->create(larder_str_make(id, strlen(id)), &fake->host, &fake->instance);
    if (status != LARDER_OK || !fake->instance) {
        fake->instance = NULL;
        fails(fake, "the library does not create ", id);
        return status != LARDER_OK ? status : LARDER_INTERNAL;
    }
    begin_call(fake, CONTROL);
    status = end_call(fake, fake->instance->start(fake->instance->context));
    if (status != LARDER_OK) {
        const larder_fake_entry *last =
            larder_fake_entry_at(fake, LARDER_FAKE_FAILURE, larder_fake_count(fake, LARDER_FAKE_FAILURE) - 1);
        fails(fake, "the plugin does not start: ", last ? last->text : "it does not say why");
        fake->instance->destroy(fake->instance->context);
        fake->instance = NULL;
        return status;
    }
    fake->processor = fake->instance->extension(fake->instance->context, name);
    fake->loops = fake->instance->extension(fake->instance->context, LARDER_STR(LARDER_EXT_EVENT_LOOP));
    free(fake->plugin);
    fake->plugin = copied(id);
    fake->policies_changed = 1;
    return LARDER_OK;
}

void larder_fake_stop(larder_fake *fake) {
    if (!fake->instance) return;
    begin_call(fake, CONTROL);
    fake->instance->stop(fake->instance->context);
    end_call(fake, LARDER_OK);
    fake->instance->destroy(fake->instance->context);
    fake->instance = NULL;
    fake->processor = NULL;
    fake->loops = NULL;
}

const char *larder_fake_schema(larder_fake *fake) {
    larder_str text = {NULL, 0};
    const larder_config_schema *schema;
    if (!fake->instance) return NULL;
    schema = fake->instance->extension(fake->instance->context, LARDER_STR(LARDER_EXT_CONFIG_SCHEMA));
    if (!schema || schema->schema(fake->instance->context, &text) != LARDER_OK || !text.ptr) return NULL;
    free(fake->condition);
    fake->condition = text_of(text);
    return fake->condition;
}

void larder_fake_free(larder_fake *fake) {
    larder_fake_stop(fake);
    larder_fake_forget(fake);
    for (size_t i = 0; i < fake->items.count; i++) free_item(&fake->items.at[i]);
    for (size_t i = 0; i < fake->policies.count; i++) free_policy(&fake->policies.at[i]);
    for (size_t i = 0; i < fake->values.count; i++) free_value(&fake->values.at[i]);
    for (size_t i = 0; i < fake->withheld.count; i++) free(fake->withheld.at[i]);
    for (size_t i = 0; i < fake->faults.count; i++) free(fake->faults.at[i].function);
    free_records(fake);
    free_projects(fake);
    free_server(fake);
    free_turns(fake);
    free(fake->items.at);
    free(fake->policies.at);
    free(fake->values.at);
    free(fake->withheld.at);
    free(fake->faults.at);
    free(fake->entries.at);
    free(fake->wishes.at);
    free(fake->granted.at);
    free(fake->cursors.at);
    free(fake->listed);
    free(fake->condition);
    free(fake->settings);
    free(fake->plugin);
    free(fake->problem);
    free(fake);
}
