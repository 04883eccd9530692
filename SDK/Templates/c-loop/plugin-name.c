#include <larder/larder.h>
#include <larder/single.h>
#include <stdio.h>

#define ID "org.example.plugin-name"
/* What the server answers about: a line with the newest event id, and a line for each thing that is new since the one
 * in the address. */
#define FEED "/apps/plugin-name/since/"

struct plugin {
    larder_instance instance;
    const larder_host *host;
    const larder_http *http;
    const larder_records *records;
};

/* The body of an answer. */
struct news {
    size_t length, id_length;
    char text[1 << 20];
};

/* Reads the answer's body. An error is not absence: whatever is no news fails. */
static larder_status read_news(const larder_host *host, larder_http_answer *answer, struct news *news) {
    larder_bytes piece;
    larder_status status;
    if (answer->status == 404) return LARDER_UNSUPPORTED; /* the host asks again a day later */
    if (answer->status != 200) return LARDER_IO;
    while ((status = answer->read(answer, &piece)) == LARDER_OK && piece.ptr) {
        if (piece.len > sizeof news->text - news->length) return LARDER_LIMIT;
        memcpy(news->text + news->length, piece.ptr, (size_t)piece.len);
        news->length += (size_t)piece.len;
    }
    while (news->id_length < news->length && news->text[news->id_length] != '\n') news->id_length++;
    if (status == LARDER_OK && (news->id_length == 0 || news->id_length == news->length)) {
        host->fail(host, LARDER_IO, LARDER_STR("the news have no newest id"));
        return LARDER_IO;
    }
    return status;
}

/* Asks what is new since an event id, and makes a page of it. */
static larder_status ask(struct plugin *me, larder_str since, larder_event_page *out) {
    char target[512];
    int length = snprintf(target, sizeof target, "%s%.*s", FEED, (int)since.len, since.ptr);
    larder_http_request request;
    larder_http_answer *answer;
    struct news *news;
    larder_status status;
    if (length < 0 || (size_t)length >= sizeof target) return LARDER_LIMIT;
    memset(&request, 0, sizeof request);
    request.struct_size = sizeof request;
    request.header_stride = sizeof(larder_http_header);
    request.method = LARDER_STR("GET");
    request.target = larder_str_make(target, (uint64_t)length);
    status = me->http->open(me->host, &request, &answer);
    if (status != LARDER_OK) return status;
    news = (struct news *)calloc(1, sizeof *news);
    status = news ? read_news(me->host, answer, news) : LARDER_LIMIT;
    me->http->close(me->host, answer);
    if (status != LARDER_OK) {
        free(news);
        return status;
    }
    out->event_id = larder_str_make(news->text, news->id_length);
    out->content = news;
    return LARDER_OK;
}

/* Asks the server. Changes nothing: what it found is the page. */
static larder_status poll_news(void *context, const larder_loop *loop, larder_event_page *out) {
    return ask((struct plugin *)context, loop->event_id, out);
}

/* Keeps a record for each line. The host commits them together with the page's event id. */
static larder_status process(void *context, const larder_loop *loop, const larder_event_page *page) {
    struct plugin *me = (struct plugin *)context;
    const struct news *news = (const struct news *)page->content;
    const char *at = news->text + news->id_length, *end = news->text + news->length;
    (void)loop;
    while (at < end) {
        const char *line = at + 1;
        at = line;
        while (at < end && *at != '\n') at++;
        if (at > line) {
            larder_record record;
            larder_status status;
            memset(&record, 0, sizeof record);
            record.struct_size = sizeof record;
            record.key = larder_str_make(line, (uint64_t)(at - line));
            record.version = LARDER_STR("");
            record.value = LARDER_STR("{}");
            status = me->records->put(me->host, LARDER_STR(ID), &record);
            if (status != LARDER_OK) return status;
        }
    }
    return LARDER_OK;
}

/* Fetches everything. */
static larder_status refresh(void *context, const larder_loop *loop, uint32_t what, larder_event_page *out) {
    larder_status status = ask((struct plugin *)context, LARDER_STR("0"), out);
    (void)what;
    if (status != LARDER_OK) return status;
    status = process(context, loop, out);
    if (status != LARDER_OK) free(out->content);
    return status;
}

static void on_error(void *context, const larder_loop *loop, const larder_loop_error *error) {
    (void)context;
    (void)loop;
    (void)error;
}

static void release_page(void *context, larder_event_page *page) {
    (void)context;
    free(page->content);
}

/* Its kind; it is one loop, and not one for each record of a collection; no hints. */
static const larder_event_loop event_loop = {
    sizeof(larder_event_loop), 0, LARDER_TEXT(ID), LARDER_TEXT(""), 0, 0,
    poll_news, process, refresh, on_error, release_page};

static larder_status start(void *context) {
    struct plugin *me = (struct plugin *)context;
    me->http = (const larder_http *)me->host->extension(me->host, LARDER_STR(LARDER_EXT_HTTP));
    me->records = (const larder_records *)me->host->extension(me->host, LARDER_STR(LARDER_EXT_RECORDS));
    return me->http && me->records ? LARDER_OK : LARDER_UNSUPPORTED;
}

static const larder_offer offers[] = {{LARDER_EXT_EVENT_LOOP, &event_loop}};

/* Id, name and version; vendor and summary; the services that it requires, and those that it merely wants. The id is for
 * good: put a domain of your own in the place of org.example. */
LARDER_SINGLE(struct plugin, start, larder_no_stop, offers,
              ID, "Plugin name", "1.0.0", "", "", LARDER_EXT_HTTP " " LARDER_EXT_RECORDS, "");
