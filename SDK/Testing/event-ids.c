/* The event ids of the loops. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

struct event_id *find_event_id(const larder_fake *fake, const char *loop) {
    for (size_t i = 0; i < fake->event_ids.count; i++) {
        if (!strcmp(fake->event_ids.at[i].loop, loop)) return &fake->event_ids.at[i];
    }
    return NULL;
}

const char *larder_fake_event_id(const larder_fake *fake, const char *loop) {
    const struct event_id *known = find_event_id(fake, loop);
    return known ? known->id : NULL;
}

void larder_fake_set_event_id(larder_fake *fake, const char *loop, const char *event_id) {
    struct event_id *known = find_event_id(fake, loop);
    if (known) {
        if (event_id && !strcmp(event_id, known->id)) return;
        free(known->id);
        if (event_id) {
            known->id = copied(event_id);
            known->repeated = 0;
        } else {
            free(known->loop);
            *known = fake->event_ids.at[--fake->event_ids.count];
        }
    } else if (event_id) {
        struct event_id made = {copied(loop), copied(event_id), 0};
        APPEND(fake->event_ids, made);
    }
}

void free_event_ids(larder_fake *fake) {
    for (size_t i = 0; i < fake->event_ids.count; i++) {
        free(fake->event_ids.at[i].loop);
        free(fake->event_ids.at[i].id);
    }
    free(fake->event_ids.at);
}
