/* A plugin that asks for every struct that a host fills, each with a canary behind it, and hands over arrays with
 * the stride of its own headers. It reports mistakes by number; `sizes_checked` counts its checks. */
#include <larder/larder.h>
#include <larder/single.h>
#include <string.h>

#define S(literal) LARDER_STR(literal)

unsigned sizes_checked;
unsigned sizes_wrong[64];
unsigned sizes_wrong_count;

static void check(unsigned number, int holds) {
    sizes_checked++;
    if (!holds && sizes_wrong_count < 64) sizes_wrong[sizes_wrong_count++] = number;
}

/* Declares a struct followed by bytes that nobody may write. */
#define ROOM(type, name)                                                                                               \
    union {                                                                                                            \
        type it;                                                                                                       \
        unsigned char bytes[sizeof(type) + 256];                                                                       \
    } name;                                                                                                            \
    memset(name.bytes, 0xA5, sizeof name.bytes);                                                                       \
    memset(&name.it, 0, sizeof name.it);                                                                               \
    name.it.struct_size = sizeof name.it

static int intact(const unsigned char *bytes, size_t size) {
    for (size_t i = size; i < size + 256; i++)
        if (bytes[i] != 0xA5) return 0;
    return 1;
}

/* Checks that the host filled the struct no further than its length, and reported that size. */
#define WHOLE(number, name)                                                                                            \
    check(number, intact(name.bytes, sizeof name.it) && name.it.struct_size <= sizeof name.it                          \
                      && name.it.struct_size >= 24)

struct sizes {
    larder_instance instance;
    const larder_host *host;
};

static const larder_host *host;
static const larder_policies *policies;
static const larder_usage *usage;
static const larder_projects *projects;
static const larder_records *records;
static const larder_http *http;
static const larder_dav *dav;
static const larder_discover *discover;

static int is(larder_str text, const char *other) {
    return text.len == strlen(other) && !memcmp(text.ptr, other, text.len);
}

static void look_at_policies(void) {
    ROOM(larder_policy_list, list);
    check(1, policies->list(host, &list.it) == LARDER_OK);
    WHOLE(2, list);
    check(3, list.it.count == 2);
    if (list.it.count == 2) {
        check(4, is(larder_policy_at(&list.it, 0)->condition, "size == 1"));
        check(5, is(larder_policy_at(&list.it, 1)->condition, "size == 2"));
    }
    list.it.struct_size = 0;
    check(6, policies->list(host, &list.it) == LARDER_INVALID_ARGUMENT);
}

static void look_at_usage(void) {
    ROOM(larder_usage_figures, figures);
    check(10, usage->read(host, &figures.it) == LARDER_OK);
    WHOLE(11, figures);
    check(12, figures.it.local_bytes == 11 && figures.it.total_bytes == 14);
    figures.it.struct_size = 8;
    check(13, usage->read(host, &figures.it) == LARDER_INVALID_ARGUMENT);
}

static void look_at_projects(void) {
    larder_project_new_step steps[2];
    larder_project_update update;
    larder_str id = {0, 0};
    memset(steps, 0, sizeof steps);
    for (int i = 0; i < 2; i++) {
        steps[i].struct_size = sizeof steps[i];
        steps[i].user_data.ptr = (const uint8_t *)(i ? "two" : "one");
        steps[i].user_data.len = 3;
    }
    memset(&update, 0, sizeof update);
    update.struct_size = sizeof update;
    update.cursor = 2;
    update.add = steps;
    update.add_count = 2;
    update.add_stride = sizeof steps[0];
    check(20, projects->create(host, &id) == LARDER_OK);
    ROOM(larder_project_ids, added);
    check(21, projects->update(host, id, &update, &added.it) == LARDER_OK);
    WHOLE(22, added);
    check(23, added.it.count == 2);
    ROOM(larder_project, project);
    check(24, projects->fetch(host, id, LARDER_PROJECT_STEPS, &project.it) == LARDER_OK);
    WHOLE(25, project);
    check(26, project.it.step_count == 2 && project.it.cursor == 2 && project.it.assets.len > 0);
    if (added.it.count == 2) {
        ROOM(larder_project_step, step);
        check(27, projects->fetch_step(host, id, added.it.ids[1], &step.it) == LARDER_OK);
        WHOLE(28, step);
        check(29, step.it.user_data.len == 3 && !memcmp(step.it.user_data.ptr, "two", 3));
    }
    ROOM(larder_project_ids, listed);
    check(30, projects->list(host, 0, &listed.it) == LARDER_OK);
    WHOLE(31, listed);
    check(32, listed.it.count == 1);
    ROOM(larder_project_usage, taken);
    check(33, projects->usage(host, &taken.it) == LARDER_OK);
    WHOLE(34, taken);
    check(35, taken.it.quota == 1 << 20);
}

static void look_at_records(void) {
    ROOM(larder_record, record);
    check(40, records->get(host, S("things"), S("one"), LARDER_RECORD_VALUE, &record.it) == LARDER_OK);
    WHOLE(41, record);
    check(42, is(record.it.key, "one") && is(record.it.value, "{\"a\":1}"));
}

static void look_at_homes(void) {
    ROOM(larder_discovery, found);
    check(50, discover->find(host, S("caldav"), &found.it) == LARDER_OK);
    WHOLE(51, found);
    check(52, found.it.home_count == 1 && is(found.it.homes[0], "/cal/ada/"));
}

static void ask(void) {
    larder_http_header headers[2];
    larder_http_request request;
    larder_http_answer *answer;
    larder_dav_request question;
    larder_dav_answer *responses;
    const larder_dav_response *response;
    memset(headers, 0, sizeof headers);
    headers[0].name = S("Accept");
    headers[0].value = S("text/plain");
    headers[1].name = S("Host");
    headers[1].value = S("elsewhere");
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.header_stride = sizeof headers[0];
    request.method = S("GET");
    request.target = S("/a");
    request.headers = headers;
    request.header_count = 2;
    /* The second header is the host's own: only a reader that steps by the stride finds it. */
    check(60, http->open(host, &request, &answer) == LARDER_DENIED);
    request.header_count = 1;
    check(61, http->open(host, &request, &answer) == LARDER_OK && http->close(host, answer) == LARDER_OK);
    request.header_stride = 8;
    check(62, http->open(host, &request, &answer) == LARDER_INVALID_ARGUMENT);

    memset(&question, 0, sizeof question);
    question.struct_size = sizeof question;
    question.method = S("PROPFIND");
    question.target = S("/b/");
    if (dav->open(host, &question, &responses) != LARDER_OK) {
        check(63, 0);
        return;
    }
    while (responses->next(responses, &response) == LARDER_OK && response) {}
    ROOM(larder_dav_end, end);
    check(64, responses->end(responses, &end.it) == LARDER_OK);
    WHOLE(65, end);
    check(66, is(end.it.sync_token, "token-1"));
}

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status text(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status update(void *me, const larder_policy_list *l) {
    (void)me;
    check(70, l->count == 2);
    return LARDER_OK;
}
static larder_status preflight(void *me, uint32_t t, larder_item_cursor *c) {
    (void)me; (void)t; (void)c;
    return LARDER_OK;
}
static larder_status pass(void *me, uint32_t t) { (void)me; (void)t; return LARDER_OK; }
static larder_status item(void *me, uint32_t t, const larder_item *i) { (void)me; (void)t; (void)i; return LARDER_OK; }
static larder_status enter(void *me, uint32_t t) {
    (void)me;
    (void)t;
    look_at_policies();
    look_at_usage();
    look_at_projects();
    return LARDER_OK;
}
static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("org.example.sizes"), 0, triggers, text, text, text, update, preflight, enter,
    pass, item, pass, pass, item, pass, pass, 0};

static larder_status poll(void *me, const larder_loop *loop, larder_event_page *out) {
    (void)me;
    (void)loop;
    out->event_id = S("1");
    look_at_records();
    look_at_homes();
    ask();
    return LARDER_OK;
}
static larder_status process(void *me, const larder_loop *loop, const larder_event_page *page) {
    (void)me;
    (void)loop;
    (void)page;
    return LARDER_OK;
}
static larder_status refresh(void *me, const larder_loop *loop, uint32_t what, larder_event_page *out) {
    (void)what;
    return poll(me, loop, out);
}
static void on_error(void *me, const larder_loop *loop, const larder_loop_error *error) {
    (void)me;
    (void)loop;
    (void)error;
    check(71, 0);
}
static void release_page(void *me, larder_event_page *page) { (void)me; (void)page; }
static const larder_event_loop loops = {
    sizeof loops, 0, LARDER_TEXT("org.example.sizes"), LARDER_TEXT(""), 0, 0, poll, process, refresh, on_error,
    release_page};

static larder_status start(void *me) {
    host = ((struct sizes *)me)->host;
    policies = host->extension(host, S(LARDER_EXT_POLICIES));
    usage = host->extension(host, S(LARDER_EXT_USAGE));
    projects = host->extension(host, S(LARDER_EXT_PROJECTS));
    records = host->extension(host, S(LARDER_EXT_RECORDS));
    http = host->extension(host, S(LARDER_EXT_HTTP));
    dav = host->extension(host, S(LARDER_EXT_DAV));
    discover = host->extension(host, S(LARDER_EXT_DISCOVER));
    return policies && usage && projects && records && http && dav && discover ? LARDER_OK : LARDER_UNSUPPORTED;
}
static const larder_offer offers[] = {{LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}, {LARDER_EXT_EVENT_LOOP, &loops}};

LARDER_SINGLE(struct sizes, start, larder_no_stop, offers, "org.example.sizes", "Sizes", "1.0", "", "",
              LARDER_EXT_POLICIES " " LARDER_EXT_USAGE " " LARDER_EXT_PROJECTS " " LARDER_EXT_RECORDS
              " " LARDER_EXT_HTTP " " LARDER_EXT_DAV " " LARDER_EXT_DISCOVER, "");
