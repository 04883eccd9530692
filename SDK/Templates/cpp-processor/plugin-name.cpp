#include <larder.hpp>

class plugin : public larder::processor {
public:
    /* Id, name and version; the services that it requires. The id is for good: put a domain of your own in the place of
     * org.example. */
    static larder::description description() {
        return larder::description("org.example.plugin-name", "Plugin name", "1.0.0", LARDER_EXT_ACTIONS);
    }
    static const char *kind() { return "plugin-name"; }
    /* What it reads of an item. */
    static uint64_t fields() { return larder::mask(LARDER_FIELD_LOCAL_ID); }

    explicit plugin(larder::host &host) : actions(host) {}

    /* The items that it is about: favourites that are not here, or are out of date. */
    larder_status match_condition(std::string &out) override {
        out = "favorite && !removed && type == \"file\" && "
              "(cloudStatus == \"cloudOnly\" || cloudStatus == \"localCopy\" && remoteVersion == \"newer\")";
        return LARDER_OK;
    }

    /* For each item that meets the condition. */
    larder_status perform_action(uint32_t, const larder::item &item) override {
        return actions.download(item.local_id());
    }

private:
    larder::actions actions;
};

LARDER_PLUGINS(plugin)
