#include <larder.hpp>

#include <algorithm>

/* The lines of an answer behind the first one, each the key of something new. */
typedef std::vector<std::string> news;

class plugin : public larder::event_loop<news> {
public:
    /* Id, name and version; the services that it requires. The id is for good: put a domain of your own in the place of
     * org.example. */
    static larder::description description() {
        return larder::description("org.example.plugin-name", "Plugin name", "1.0.0",
                                   LARDER_EXT_HTTP " " LARDER_EXT_RECORDS);
    }
    static const char *kind() { return "org.example.plugin-name"; }

    explicit plugin(larder::host &host) : host(host), http(host), records(host) {}

    /* Asks the server. Changes nothing: what it found is the page. */
    larder_status poll(const larder_loop &loop, larder::page<news> &out) override {
        return ask(larder::text(loop.event_id).str(), out);
    }

    /* Keeps a record for each line. The host commits them together with the page's event id. */
    larder_status process(const larder_loop &, const larder::page<news> &found) override {
        for (const std::string &key : found.content) {
            larder_status status = records.put("org.example.plugin-name", key, "", "{}");
            if (status != LARDER_OK) return status;
        }
        return LARDER_OK;
    }

    /* Fetches everything. */
    larder_status refresh(const larder_loop &loop, uint32_t, larder::page<news> &out) override {
        larder_status status = ask("0", out);
        return status == LARDER_OK ? process(loop, out) : status;
    }

private:
    larder::host &host;
    larder::http http;
    larder::records records;

    /* Asks what is new since an event id. The answer has a line with the newest one, and a line for each thing that is
     * new. An error is not absence: whatever is no news fails. */
    larder_status ask(const std::string &since, larder::page<news> &out) {
        larder::http_answer answer = http.open("GET", "/apps/plugin-name/since/" + since);
        if (answer.status() != LARDER_OK) return answer.status();
        if (answer.code() == 404) return LARDER_UNSUPPORTED; /* the host asks again a day later */
        if (answer.code() != 200) return LARDER_IO;
        larder::result<std::string> body = answer.body(1 << 20);
        if (!body) return body.status();
        std::size_t end = body->find('\n');
        if (end == 0 || end == std::string::npos) return host.fail(LARDER_IO, "the news have no newest id");
        out.event_id = body->substr(0, end);
        while (end + 1 < body->size()) {
            std::size_t begin = end + 1;
            end = std::min(body->find('\n', begin), body->size());
            if (end > begin) out.content.push_back(body->substr(begin, end - begin));
        }
        return LARDER_OK;
    }
};

LARDER_PLUGINS(plugin)
