/* trigger.h: the events that start processors.
 *
 * A processor names the triggers that it wants as a mask. The host asks for the mask before each run.
 *
 * Example:
 *
 *     static uint32_t triggers(void *context) {
 *         (void)context;
 *         return LARDER_TRIGGER_BIT(LARDER_TRIGGER_ITEMS_CHANGED) |
 *         LARDER_TRIGGER_BIT(LARDER_TRIGGER_POLICIES_CHANGED);
 *     }
 */
#ifndef LARDER_TRIGGER_H
#define LARDER_TRIGGER_H

#include "base.h"

/* One transaction added, updated or removed items. The run considers only these items. */
#define LARDER_TRIGGER_ITEMS_CHANGED 0u
/* A scan of the account finished with changes, or a scan finished for the first time since the start. The run considers
 * all items, including those that were removed on the server. */
#define LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED 1u
/* A scan finished and found nothing new. The run considers all items. */
#define LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES 2u
/* A policy was added, updated or removed. The run considers all items. */
#define LARDER_TRIGGER_POLICIES_CHANGED 3u
/* An earlier run left items because `max_records` actions of the processor were in progress, and now there is room. The
 * run considers all items. */
#define LARDER_TRIGGER_SYNC_CAPACITY 4u
/* Time has passed without a finished scan, because the server is not reachable. This trigger is for work that depends
 * on the time only and needs no server. The run considers all items in their last known state. */
#define LARDER_TRIGGER_TIMER 5u
/* Event loops added, changed or removed records (ext/records.h). Changes that follow each other fast may have one run in
 * common. The run considers all items. A processor whose wishes depend on records also wants
 * LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED, since the host may end between a change and its run. Since 1.2. */
#define LARDER_TRIGGER_RECORDS_CHANGED 6u

/* The bit of a trigger in a mask. */
#define LARDER_TRIGGER_BIT(trigger) (UINT32_C(1) << (trigger))
/* Every trigger, including those of later versions. */
#define LARDER_TRIGGERS_ALL 0xFFFFFFFFu

#endif
