#include <larder/larder.h>
#include <larder/single.h>
#include <larder/helper.h>

struct plugin {
    larder_instance instance;
    const larder_host *host;
    const larder_actions *actions;
};

/* The items that it is about: favourites that are not here, or are out of date. */
static larder_status wanted(void *context, larder_str *out) {
    (void)context;
    *out = LARDER_STR("favorite && !removed && type == \"file\" && "
                      "(cloudStatus == \"cloudOnly\" || cloudStatus == \"localCopy\" && remoteVersion == \"newer\")");
    return LARDER_OK;
}

/* For each item that meets the condition. */
static larder_status download(void *context, uint32_t trigger, const larder_item *item) {
    struct plugin *me = (struct plugin *)context;
    (void)trigger;
    return me->actions->download(me->host, item->local_id, 0, larder_str_make(NULL, 0));
}

/* Its kind, the fields that it reads; matching, and cleanup, which it does without. */
static const larder_item_policy_processor processor =
    LARDER_PROCESSOR("plugin-name", LARDER_FIELD_BIT(LARDER_FIELD_LOCAL_ID), wanted, download,
                     larder_no_condition, larder_no_item);

static larder_status start(void *context) {
    struct plugin *me = (struct plugin *)context;
    me->actions = (const larder_actions *)me->host->extension(me->host, LARDER_STR(LARDER_EXT_ACTIONS));
    return me->actions ? LARDER_OK : LARDER_UNSUPPORTED;
}

static const larder_offer offers[] = {{LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}};

/* Id, name and version; vendor and summary; the services that it requires, and those that it merely wants. The id is for
 * good: put a domain of your own in the place of org.example. */
LARDER_SINGLE(struct plugin, start, larder_no_stop, offers,
              "org.example.plugin-name", "Plugin name", "1.0.0", "", "", LARDER_EXT_ACTIONS, "");
