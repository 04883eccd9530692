/* The start and the end of a call into the plugin, and the handling of its requests. */
#include "fake.h"

#include <string.h>

void begin_call(larder_fake *fake, enum state state) {
    fake->state = state;
    fake->thread = pthread_self();
    fake->first_entry = fake->entries.count;
    fake->asked = 0;
}

void grant(larder_fake *fake) {
    for (size_t i = 0; i < fake->wishes.count; i++) {
        struct wish *wish = &fake->wishes.at[i];
        if (wish->value.key) {
            for (size_t k = 0; k < fake->values.count; k++) {
                if (strcmp(fake->values.at[k].key, wish->value.key) != 0) continue;
                free_value(&fake->values.at[k]);
                fake->values.at[k] = fake->values.at[--fake->values.count];
                break;
            }
            if (wish->value.bytes.ptr) APPEND(fake->values, wish->value);
            else free_value(&wish->value);
        } else if (wish->record.key) {
            keep_record(fake, &wish->record);
        } else {
            APPEND(fake->granted, *wish);
        }
    }
    fake->wishes.count = 0;
}

void forget_wishes(larder_fake *fake) {
    drop_wishes_since(fake, fake->first_entry);
    for (size_t i = 0; i < fake->wishes.count; i++) {
        free_policy(&fake->wishes.at[i].policy);
        free_value(&fake->wishes.at[i].value);
        free_record(&fake->wishes.at[i].record);
    }
    fake->wishes.count = 0;
}

larder_status end_call(larder_fake *fake, larder_status status) {
    if (status == LARDER_OK) {
        grant(fake);
        fake->granted_actions += fake->asked;
    } else {
        forget_wishes(fake);
    }
    close_cursors(fake);
    close_record_cursors(fake);
    free_lent(fake);
    fake->state = OUTSIDE;
    return status;
}
