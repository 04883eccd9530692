/* trigger.h: what sets processors to work.
 *
 * A processor names the triggers that it wants as a mask, which the host asks for before each run.
 */
#ifndef LARDER_TRIGGER_H
#define LARDER_TRIGGER_H

#include "base.h"

/* Items were added, updated or removed by one transaction. Only these are looked at. */
#define LARDER_TRIGGER_ITEMS_CHANGED 0u
/* A scan of the account finished with changes, or is the first to finish since the start. All items are looked at,
 * those that were removed on the server included. */
#define LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED 1u
/* A scan finished and found nothing new. All items are looked at. */
#define LARDER_TRIGGER_ITEM_LIST_UPDATE_COMPLETED_WITHOUT_CHANGES 2u
/* A policy was added, updated or removed. All items are looked at. */
#define LARDER_TRIGGER_POLICIES_CHANGED 3u
/* The processor left items for lack of room (`max_records` of its table), and there is room now. All items are looked
 * at. */
#define LARDER_TRIGGER_SYNC_CAPACITY 4u
/* Time has passed, and no scan has finished meanwhile: the server is not reachable. For what depends on the time alone and
 * needs no server. All items are looked at, as they were known last. */
#define LARDER_TRIGGER_TIMER 5u

/* A trigger's bit in a mask. */
#define LARDER_TRIGGER_BIT(trigger) (UINT32_C(1) << (trigger))
/* Every trigger, those of later versions included. */
#define LARDER_TRIGGERS_ALL 0xFFFFFFFFu

#endif
