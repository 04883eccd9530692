/* The opening of a library, and the life of one plugin. */
#include "fake.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

larder_fake *larder_fake_for(larder_plugin_entry entry) {
    larder_fake *fake = resized(NULL, sizeof *fake);
    const larder_module *given = NULL;
    larder_status status;
    memset(fake, 0, sizeof *fake);
    fake->settings = copied("{}");
    fake->policies_changed = 1;
    fake->project_quota = 1000000000;
    fill_host(fake);
    if (!entry) return fake;
    status = entry(LARDER_ABI_MINOR, &given);
    if (status != LARDER_OK) set_problem(fake, "its entry function returned %d", (int)status);
    else take_module(fake, given);
    return fake;
}

larder_fake *larder_fake_open(const char *library) {
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *why = opened ? "" : dlerror();
    void *symbol = opened ? dlsym(opened, LARDER_ENTRY) : NULL;
    larder_plugin_entry entry = NULL;
    larder_fake *fake;
    /* POSIX returns a function's address as a data pointer, which ISO C cannot cast. */
    memcpy(&entry, &symbol, sizeof entry);
    fake = larder_fake_for(entry);
    if (!opened) set_problem(fake, "cannot open the library: %s", why);
    else if (!symbol) set_problem(fake, "the library does not export %s", LARDER_ENTRY);
    return fake;
}

const char *larder_fake_problem(const larder_fake *fake) { return fake->problem; }

const larder_descriptor *larder_fake_describe(const larder_fake *fake, uint32_t index) {
    return fake->module ? fake->module->describe(index) : NULL;
}

/* Destroys an instance that is stopped or was not started. */
static void destroy(larder_fake *fake) {
    begin_call(fake, CREATE);
    fake->instance->destroy(fake->instance->context);
    end_call(fake, LARDER_OK);
    fake->instance = NULL;
    fake->processor = NULL;
    fake->explainer = NULL;
    fake->loops = NULL;
}

static const char *said(const larder_fake *fake, size_t failures) {
    size_t count = larder_fake_count(fake, LARDER_FAKE_FAILURE);
    return count > failures ? larder_fake_entry_at(fake, LARDER_FAKE_FAILURE, count - 1)->text : "it does not say why";
}

larder_status larder_fake_start(larder_fake *fake, const char *id) {
    size_t failures = larder_fake_count(fake, LARDER_FAKE_FAILURE);
    const larder_instance *given = NULL;
    larder_status status;
    char *lent;
    if (!fake->module || fake->instance) return LARDER_WRONG_STATE;
    free(fake->problem);
    fake->problem = NULL;
    status = take_description(fake, id);
    if (status != LARDER_OK) return status;
    lent = copied(id);
    begin_call(fake, CREATE);
    status = end_call(fake, fake->module->create(larder_str_make(lent, strlen(lent)), &fake->host, &given));
    free(lent);
    if (status != LARDER_OK) {
        set_problem(fake, "it cannot be created: %s", said(fake, failures));
        return status;
    }
    if (!take_instance(fake, given)) return LARDER_INVALID_ARGUMENT;
    if (!take_offers(fake)) {
        destroy(fake);
        return LARDER_INVALID_ARGUMENT;
    }
    free(fake->plugin);
    fake->plugin = copied(id);
    begin_call(fake, CONTROL);
    status = end_call(fake, fake->instance->start(fake->instance->context));
    check_status(fake, "start", status);
    if (status != LARDER_OK) {
        set_problem(fake, "the plugin does not start: %s", said(fake, failures));
        destroy(fake);
        return status;
    }
    fake->policies_changed = 1;
    return LARDER_OK;
}

void larder_fake_stop(larder_fake *fake) {
    if (!fake->instance) return;
    begin_call(fake, CONTROL);
    fake->instance->stop(fake->instance->context);
    end_call(fake, LARDER_OK);
    destroy(fake);
}

const char *larder_fake_schema(larder_fake *fake) { return fake->instance ? fake->schema : NULL; }

void larder_fake_free(larder_fake *fake) {
    larder_fake_stop(fake);
    larder_fake_forget(fake);
    for (size_t i = 0; i < fake->items.count; i++) free_item(&fake->items.at[i]);
    for (size_t i = 0; i < fake->policies.count; i++) free_policy(&fake->policies.at[i]);
    for (size_t i = 0; i < fake->values.count; i++) free_value(&fake->values.at[i]);
    for (size_t i = 0; i < fake->withheld.count; i++) free(fake->withheld.at[i]);
    for (size_t i = 0; i < fake->grants.count; i++) free(fake->grants.at[i]);
    for (size_t i = 0; i < fake->faults.count; i++) free(fake->faults.at[i].function);
    free_records(fake);
    free_projects(fake);
    free_answers(fake);
    free_server(fake);
    free_event_ids(fake);
    free(fake->items.at);
    free(fake->policies.at);
    free(fake->values.at);
    free(fake->withheld.at);
    free(fake->grants.at);
    free(fake->faults.at);
    free(fake->entries.at);
    free(fake->wishes.at);
    free(fake->granted.at);
    free(fake->cursors.at);
    free_lent(fake);
    free(fake->lent_blocks.at);
    free(fake->listed);
    free(fake->condition);
    free(fake->explanation);
    free(fake->settings);
    free(fake->filled_settings);
    free(fake->schema);
    free(fake->services);
    free(fake->plugin);
    free(fake->problem);
    free(fake);
}
