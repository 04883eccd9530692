/* A small processor that same.c, same.rs and same.swift also are: each call does the same in each language. */
#include <larder.hpp>

class same : public larder::processor {
public:
    static larder::description description() {
        return larder::description(
            "org.example.same", "Same", "1.0.0",
            LARDER_EXT_CONFIG " " LARDER_EXT_ACTIONS " " LARDER_EXT_KV " " LARDER_EXT_ITEMS " " LARDER_EXT_POLICIES,
            LARDER_EXT_LOG);
    }
    static const char *kind() { return "same"; }
    static uint64_t fields() { return larder::mask(LARDER_FIELD_LOCAL_ID, LARDER_FIELD_PATH, LARDER_FIELD_SIZE); }
    static uint64_t max_records() { return 20; }
    static const char *schema() {
        return "{\"properties\": {\"folder\": {\"type\": \"string\", \"default\": \"/it \\\"is\\\"\"}, "
               "\"largest\": {\"type\": \"string\", \"format\": \"size\", \"default\": \"1kB\"}}}";
    }

    explicit same(larder::host &host) : actions(host), kv(host), items(host), policies(host), log(host) {
        larder::config config(host);
        folder = config.text("folder").get();
        largest = config.integer("largest").get();
        if (largest == 0) throw larder::error(LARDER_INVALID_ARGUMENT, "nothing is as small as 0 bytes");
    }

    larder_status policy_condition(std::string &out) override {
        out = "favorite";
        return LARDER_OK;
    }
    larder_status match_condition(std::string &out) override {
        out = "type == \"file\" && !removed && parentPath == " + larder::quote(folder);
        return LARDER_OK;
    }
    larder_status cleanup_condition(std::string &out) override {
        out = "cloudStatus == \"localCopy\"";
        return LARDER_OK;
    }
    larder_status update_policies(const larder::policy_list &list) override {
        policy_count = list.size();
        return LARDER_OK;
    }
    larder_status preflight(uint32_t, larder::item_cursor &changed) override {
        while (const larder::item *item = changed.next()) log.info("changed: " + item->path().str());
        return changed.status();
    }
    larder_status will_enter_trigger(uint32_t trigger) override {
        larder::result<larder::bytes> before = kv.get("runs");
        if (!before && before.status() != LARDER_NOT_FOUND) return before.status();
        const std::string runs = before->str() + "|";
        larder::check(kv.put("runs", runs));
        larder_query query = larder::make<larder_query>();
        query.condition = larder::text("type == \"folder\"");
        query.fields = larder::mask(LARDER_FIELD_PATH);
        query.sort = LARDER_SORT_BY(LARDER_FIELD_PATH);
        larder::item_cursor folders = items.open(query);
        std::size_t count = 0;
        while (folders.next()) count++;
        larder::check(folders.status());
        log.info("trigger " + std::to_string(trigger) + ", runs " + runs + ", policies " + std::to_string(policy_count)
                 + ", folders " + std::to_string(count));
        if (policy_count > 0) return LARDER_OK;
        larder_policy policy = larder::make<larder_policy>();
        policy.condition = larder::text("favorite");
        policy.identifier = larder::text("same");
        return policies.add(policy);
    }
    larder_status perform_action(uint32_t, const larder::item &item) override {
        if (item.size() > largest) throw larder::error(LARDER_LIMIT, item.path().str() + " is too large");
        return actions.download(item.local_id(), LARDER_DOWNLOAD_WHILE_COVERED, "get:" + item.path().str());
    }
    larder_status perform_cleanup(uint32_t, const larder::item &item) override {
        return actions.remove_local_copy(item.local_id(), LARDER_REMOVE_IF_UNUSED);
    }
    larder_status end_cleanup(uint32_t) override { return actions.download("nobody"); }
    larder_status explain(const larder::item &item, std::string &out) override {
        if (item.size() > largest) out = "it is too large";
        return LARDER_OK;
    }

private:
    larder::actions actions;
    larder::kv kv;
    larder::items items;
    larder::policies policies;
    larder::log log;
    std::string folder;
    int64_t largest = 0;
    std::size_t policy_count = 0;
};

LARDER_PLUGINS(same)
