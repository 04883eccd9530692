/* The processor of reader.c, by the header for C++. */
#include <larder.hpp>

class reader : public larder::processor {
public:
    static larder::description description() {
        return larder::description(
            "org.example.reader", "Reader", "1.0.0", LARDER_EXT_CONFIG " " LARDER_EXT_LOG, "");
    }
    static const char *kind() { return "reader"; }
    static uint64_t fields() { return larder::mask(LARDER_FIELD_PATH, LARDER_FIELD_SIZE, LARDER_FIELD_LAST_USED); }
    static const char *schema() {
        return "{\"properties\": {\"match\": {\"type\": \"string\", \"default\": \"true\"}}}";
    }

    explicit reader(larder::host &host) : log(host), match(larder::config(host).text("match").get()) {}

    larder_status match_condition(std::string &out) override {
        out = match;
        return LARDER_OK;
    }
    larder_status begin_matching(uint32_t) override {
        rows = sum = 0;
        return LARDER_OK;
    }
    larder_status perform_action(uint32_t, const larder::item &item) override {
        const larder::text path = item.path();
        rows++;
        if (!path.empty()) sum += static_cast<int64_t>(path.size()) + static_cast<unsigned char>(path.ptr[0]);
        sum += item.size() + item.last_used();
        return LARDER_OK;
    }
    larder_status end_matching(uint32_t) override {
        log.info(std::to_string(rows) + " " + std::to_string(sum));
        return LARDER_OK;
    }

private:
    larder::log log;
    std::string match;
    int64_t rows = 0, sum = 0;
};

LARDER_PLUGINS(reader)
