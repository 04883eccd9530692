/* One turn of an event loop, in the order of ext/event-loop.h. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

int larder_fake_has_more(const larder_fake *fake) { return fake->has_more; }

/* Records a call that returned. Its requests wait for the commit. */
static larder_status returned(larder_fake *fake, const char *name, uint32_t number, larder_status status) {
    larder_fake_entry *entry = record(fake, LARDER_FAKE_CALL, name);
    entry->number = number;
    entry->status = status;
    entry->id = copied(fake->loop);
    check_status(fake, name, status);
    close_record_cursors(fake);
    close_answers(fake);
    free_lent(fake);
    fake->state = OUTSIDE;
    return status;
}

static void begin(larder_fake *fake, enum state state) {
    size_t first = fake->first_entry;
    begin_call(fake, state);
    fake->first_entry = first; /* of the turn */
}

static void report(larder_fake *fake, const larder_loop *loop, uint32_t code, larder_status status,
                   const char *message) {
    larder_loop_error error = {sizeof error, code, status, 0, larder_str_make(message, strlen(message))};
    begin(fake, LOOP_READING);
    fake->loops->on_error(fake->instance->context, loop, &error);
    returned(fake, "on_error", code, status);
    grant(fake);
}

static larder_status fails(larder_fake *fake, const larder_loop *loop, uint32_t code, larder_status status) {
    size_t failures = larder_fake_count(fake, LARDER_FAKE_FAILURE);
    const larder_fake_entry *last = failures ? larder_fake_entry_at(fake, LARDER_FAKE_FAILURE, failures - 1) : NULL;
    char *message = copied(last && last->text ? last->text : "the plugin gave no reason");
    forget_wishes(fake);
    report(fake, loop, code, status, message);
    free(message);
    return status;
}

static void release(larder_fake *fake, larder_event_page *page) {
    begin(fake, CONTROL);
    fake->loops->release_page(fake->instance->context, page);
    returned(fake, "release_page", 0, LARDER_OK);
}

/* Commits a turn, all of it or nothing. */
static larder_status commit(larder_fake *fake, const larder_loop *loop, char *event_id, int more) {
    larder_status status;
    fake->state = LOOP;
    fake->thread = pthread_self();
    status = enter(fake, "commit", IN_LOOP);
    fake->state = OUTSIDE;
    if (status == LARDER_OK) {
        int repeats = more && loop->event_id.ptr && same(loop->event_id, event_id);
        grant(fake);
        larder_fake_set_event_id(fake, fake->loop, event_id);
        fake->has_more = more && !(repeats && find_event_id(fake, fake->loop)->repeated);
        find_event_id(fake, fake->loop)->repeated = repeats;
        if (more && !fake->has_more) {
            report(fake, loop, LARDER_LOOP_NO_PROGRESS, LARDER_FAILED, "there is more, with the same event id");
            status = LARDER_FAILED;
        }
    } else {
        status = fails(fake, loop, LARDER_LOOP_PROCESSING, status);
    }
    free(event_id);
    return status;
}

/* Tells whether a page can be committed. */
static int is_sound(larder_fake *fake, const char *function, const larder_event_page *page) {
    if (page->event_id.len && is_utf8(page->event_id)) return 1;
    refuse(fake, function, LARDER_INVALID_ARGUMENT);
    return 0;
}

static larder_status refresh(larder_fake *fake, const larder_loop *loop, uint32_t asked) {
    uint32_t known = fake->loops->refresh_bits, bits = known && !(asked & ~known) ? asked : known;
    char *anchor = NULL;
    int more = 0;
    for (uint32_t bit = 1; bit < 0x100; bit <<= 1) {
        uint32_t what = known ? bit & bits : bit == 1 ? LARDER_REFRESH_EVERYTHING : 0;
        larder_event_page page;
        larder_status status;
        int sound;
        if (!what) continue;
        memset(&page, 0, sizeof page);
        page.struct_size = sizeof page;
        begin(fake, LOOP);
        status = returned(fake, "refresh", what,
                          fake->loops->refresh(fake->instance->context, loop, what, &page));
        if (status != LARDER_OK) {
            free(anchor);
            forget_wishes(fake);
            return status == LARDER_UNSUPPORTED ? status : fails(fake, loop, LARDER_LOOP_POLL_FAILED, status);
        }
        sound = is_sound(fake, "refresh", &page);
        if (sound && !anchor) {
            anchor = text_of(page.event_id);
            more = page.more && what == LARDER_REFRESH_EVERYTHING;
        }
        release(fake, &page);
        if (sound) continue;
        free(anchor);
        return fails(fake, loop, LARDER_LOOP_POLL_FAILED, LARDER_FAILED);
    }
    return commit(fake, loop, anchor, more);
}

static larder_status poll(larder_fake *fake, const larder_loop *loop) {
    larder_event_page page;
    larder_status status;
    char *event_id;
    int more;
    memset(&page, 0, sizeof page);
    page.struct_size = sizeof page;
    begin(fake, LOOP_READING);
    status = returned(fake, "poll", 0, fake->loops->poll(fake->instance->context, loop, &page));
    if (status == LARDER_UNSUPPORTED) return status;
    if (status != LARDER_OK) return fails(fake, loop, LARDER_LOOP_POLL_FAILED, status);
    if (page.refresh) {
        uint32_t asked = page.refresh;
        release(fake, &page);
        report(fake, loop, LARDER_LOOP_OUTDATED, LARDER_OK, "the cache is too old");
        return refresh(fake, loop, asked);
    }
    if (!is_sound(fake, "poll", &page)) {
        release(fake, &page);
        return fails(fake, loop, LARDER_LOOP_POLL_FAILED, LARDER_FAILED);
    }
    begin(fake, LOOP);
    status = returned(fake, "process", 0, fake->loops->process(fake->instance->context, loop, &page));
    event_id = text_of(page.event_id);
    more = page.more != 0;
    release(fake, &page);
    if (status == LARDER_OK) return commit(fake, loop, event_id, more);
    free(event_id);
    return fails(fake, loop, LARDER_LOOP_PROCESSING, status);
}

larder_status larder_fake_poll(larder_fake *fake, const char *loop_id) {
    larder_status status;
    char *id, *event_id;
    larder_loop loop = {sizeof loop, 0, {NULL, 0}, {NULL, 0}};
    if (!fake->loops) return LARDER_WRONG_STATE;
    /* Copies that are freed after the turn. */
    id = copied(loop_id);
    event_id = find_event_id(fake, loop_id) ? copied(find_event_id(fake, loop_id)->id) : NULL;
    loop.id = larder_str_make(id, strlen(id));
    if (event_id) loop.event_id = larder_str_make(event_id, strlen(event_id));
    fake->loop = id;
    fake->first_entry = fake->entries.count;
    fake->turn_bytes = 0;
    fake->has_more = 0;
    if (event_id) {
        status = poll(fake, &loop);
    } else {
        report(fake, &loop, LARDER_LOOP_MISSING_ID, LARDER_OK, "there is no event id");
        status = refresh(fake, &loop, LARDER_REFRESH_EVERYTHING);
    }
    fake->loop = NULL;
    free(id);
    free(event_id);
    return status;
}
