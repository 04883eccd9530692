#include <larder.hpp>

#include <ctime>

/* The id is for good: put a domain of your own in the place of org.example. */
#define ID "org.example.this-month"

/* Returns the month of a time in UTC, such as 2026-11. Months compare as texts. */
static std::string month_of(int64_t nanoseconds) {
    const int64_t second = 1000000000;
    const std::time_t seconds = static_cast<std::time_t>(nanoseconds / second - (nanoseconds % second < 0));
    std::tm parts = std::tm();
    char text[16] = "";
    gmtime_r(&seconds, &parts);
    std::strftime(text, sizeof text, "%Y-%m", &parts);
    return text;
}

/* Keeps the files here that were modified this month, and removes its copies when the month is over. */
class this_month : public larder::processor {
public:
    static larder::description description() {
        return larder::description(ID, "This month", "1.0.0",
                                   LARDER_EXT_ACTIONS " " LARDER_EXT_CLOCK " " LARDER_EXT_CONFIG, "", "",
                                   "Keeps the files here that were modified this month");
    }
    static const char *kind() { return "thisMonth"; }
    /* What perform_action, perform_cleanup and explain read. */
    static uint64_t fields() {
        return larder::mask(LARDER_FIELD_LOCAL_ID, LARDER_FIELD_PATH, LARDER_FIELD_TYPE, LARDER_FIELD_REMOVED,
                            LARDER_FIELD_SIZE, LARDER_FIELD_LAST_MODIFIED);
    }
    static const char *schema() {
        return R"({"properties": {
            "folder": {"type": "string", "default": "/", "pattern": "^/",
                "description": "the folder with the files, from the root, such as /Documents"},
            "largest": {"type": "string", "format": "size", "minimum": 0,
                "description": "the size of the largest files that are kept here; without it, of any size"}}})";
    }

    explicit this_month(larder::host &host) : actions(host), clock(host), config(host) {}

    larder_status start() override {
        larder::result<std::string> found = config.text("folder");
        if (!found) return found.status();
        below = *found;
        if (below[below.size() - 1] != '/') below += '/';
        larder::result<int64_t> size = config.integer("largest");
        if (!size && size.status() != LARDER_NOT_FOUND) return size.status();
        largest = size.value_or(INT64_MAX);
        return LARDER_OK;
    }

    /* Changed items are fetched at once. All items are gone through when a scan has ended, also without news: the month
     * may have turned. */
    uint32_t triggers() override {
        return LARDER_TRIGGER_BIT(LARDER_TRIGGER_ITEMS_CHANGED) |
               LARDER_TRIGGER_BIT(LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED) |
               LARDER_TRIGGER_BIT(LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES);
    }

    /* Each run has its month, which all its conditions name. Without a time, the run does nothing. */
    larder_status will_enter_trigger(uint32_t trigger) override {
        larder::result<int64_t> now = clock.now();
        if (!now) return now.status();
        month = month_of(*now);
        cleans_up = trigger != LARDER_TRIGGER_ITEMS_CHANGED;
        return LARDER_OK;
    }

    larder_status policy_condition(std::string &out) override {
        if (!month.empty()) out = covered();
        return LARDER_OK;
    }

    /* Those that are not here, or are out of date. */
    larder_status match_condition(std::string &out) override {
        if (!month.empty())
            out = "(cloudStatus == \"cloudOnly\" || cloudStatus == \"localCopy\" && remoteVersion == \"newer\") && " +
                  covered();
        return LARDER_OK;
    }

    /* The copies that came for this plugin, and that it does not keep any more. A file that has changed may be about to
     * come back, so that only a whole scan decides. */
    larder_status cleanup_condition(std::string &out) override {
        if (!month.empty() && cleans_up)
            out = "cloudStatus == \"localCopy\" && !removed && downloadTrigger == \"" ID "\" && !(" + covered() + ")";
        return LARDER_OK;
    }

    /* The host drops the download if the month has turned when its turn comes. */
    larder_status perform_action(uint32_t, const larder::item &item) override {
        return actions.download(item.local_id(), LARDER_DOWNLOAD_WHILE_COVERED);
    }

    /* A copy that a person had fetched before is the person's again. One that is in use goes after a later scan. */
    larder_status perform_cleanup(uint32_t, const larder::item &item) override {
        return actions.remove_local_copy(item.local_id(), LARDER_REMOVE_RESTORE_FORMER | LARDER_REMOVE_IF_UNUSED);
    }

    larder_status explain(const larder::item &item, std::string &out) override {
        if (item.type() != LARDER_TYPE_FILE || item.removed() || !item.has(LARDER_FIELD_LAST_MODIFIED) ||
            !item.path().starts_with(below))
            return LARDER_OK;
        const std::string modified = month_of(item.last_modified());
        if (modified < month) out = "it was last modified in " + modified + ", before this month, " + month + " in UTC";
        else if (item.size() > largest) out = "it was modified this month, and is larger than the setting `largest`";
        else out = "it was modified this month, and is kept here until the month is over, in UTC";
        return LARDER_OK;
    }

private:
    /* The condition of the files to keep here, while it is `month`. */
    std::string covered() const {
        const std::string begin = "timestamp(\"" + month + "-01T00:00:00Z\")";
        std::string condition = "type == \"file\" && !removed && lastModified >= " + begin;
        if (below != "/") condition += " && path.startsWith(" + larder::quote(below) + ")";
        if (largest != INT64_MAX) condition += " && !(size > " + std::to_string(largest) + ")";
        return condition;
    }

    larder::actions actions;
    larder::clock clock;
    larder::config config;
    /* The folder, with a slash at its end. */
    std::string below;
    int64_t largest = INT64_MAX;
    /* The month of the run; empty before the first one. */
    std::string month;
    bool cleans_up = false;
};

LARDER_PLUGINS(this_month)
