/* ext/processor.h: a plugin that processes items, "larder.item-policy-processor/1".
 *
 * When a trigger fires that is in the processor's mask, the host makes a run of calls:
 *
 *   update_policies       if they changed since the last run, and in the first one
 *   preflight             with the changed items, if the trigger is about single items
 *   will_enter_trigger
 *   begin_matching        ┐
 *   perform_action        │ for each item that meets the match condition; none of the three if there is no such item
 *   end_matching          ┘ or no condition
 *   begin_cleanup         ┐
 *   perform_cleanup       │ the same with the cleanup condition
 *   end_cleanup           ┘
 *   did_pass_trigger
 *
 * A run sees the items as they were when it began. What the processor asks for in a call counts when that call returns
 * LARDER_OK; a call that fails has asked for nothing, and the run goes on with the next. What was asked for is carried
 * out in order, and may set the triggers off again: that is another run, after this one.
 *
 * Scenarios:
 *
 *  I.   Keep what a policy names. Match: what is covered and not here. Action: download. Cleanup: what this plugin
 *       brought here and is covered no more. Action: remove the local copy.
 *  II.  Remove what was not used for a week. No policies, no match condition. Cleanup: `cloudStatus == "localCopy" &&
 *       lastUsed < now - duration("168h")`.
 *  III. Follow a folder that is moved. Preflight: of the changed items, one has the id that a policy is for and
 *       another path. Update the policy.
 *  IV.  Work through many items a few at a time. Set max_records: what goes beyond is not handed over, and comes again
 *       with syncCapacity. Without it all that matches is asked for at once, and the host works it off in order.
 *
 * Advice to plugins: let the conditions decide, so that only items that need something reach you; a condition is
 * answered by an index, a call is not. Ask only for what is not already so: the next run must come to rest.
 *
 * Advice to hosts: the mask is asked for before each run; the policy condition and the match condition after
 * will_enter_trigger, the cleanup condition after matching. A condition that does not parse is the call's failure: named, and as if absent.
 */
#ifndef LARDER_EXT_PROCESSOR_H
#define LARDER_EXT_PROCESSOR_H

#include "../base.h"
#include "../item.h"
#include "../policy.h"
#include "../trigger.h"

#define LARDER_EXT_ITEM_POLICY_PROCESSOR "larder.item-policy-processor/1"

LARDER_BEGIN

typedef struct larder_item_policy_processor {
    uint32_t struct_size;
    uint32_t reserved;
    /* Of the policies that it is for; unique among the plugins of a host. Letters and digits, or the plugin's id. */
    larder_str kind;
    /* The fields that it reads of the items that it gets, LARDER_FIELD_BITs. */
    uint64_t fields;

    /* The triggers that it wants now, LARDER_TRIGGER_BITs or LARDER_TRIGGERS_ALL; 0: none. Asked before each run.
     * [processor] since 1.0 */
    uint32_t (*triggers)(void *LARDER_NULLABLE context);

    /* The text of the condition that items meet which the processor's policies cover: as a rule any of the policies'
     * conditions, and what the processor covers by itself. Asked in each run, after will_enter_trigger. Left absent, it
     * covers nothing by itself. The host says with it, and with the stored policies of the kind, whether an item is
     * covered; what is matched, the next two alone decide.
     * [processor] since 1.0 */
    larder_status (*policy_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* The text of the condition that items meet for which perform_action is called; left absent: none.
     * [processor] since 1.0 */
    larder_status (*match_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* The text of the condition that items meet for which perform_cleanup is called; left absent: none.
     * [processor] since 1.0 */
    larder_status (*cleanup_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* Hands over all policies of the processor's kind, in place of those handed over before.
     * [processor] since 1.0 */
    larder_status (*update_policies)(void *LARDER_NULLABLE context, const larder_policy_list *policies);

    /* The time to bring policies up to date. `changed` streams the items that were added, updated or removed, these
     * marked as such, if the trigger is LARDER_TRIGGER_ITEMS_CHANGED; with every other trigger it is null. The host
     * closes it.
     * [processor] since 1.0 */
    larder_status (*preflight)(void *LARDER_NULLABLE context, uint32_t trigger,
                               larder_item_cursor *LARDER_NULLABLE changed);

    /* The run begins in earnest: the time to note the clock, or to count anew.
     * [processor] since 1.0 */
    larder_status (*will_enter_trigger)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* At least one item matches.
     * [processor] since 1.0 */
    larder_status (*begin_matching)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* An item matches: the time to ask for actions. A failure skips this item alone.
     * [processor] since 1.0 */
    larder_status (*perform_action)(void *LARDER_NULLABLE context, uint32_t trigger, const larder_item *item);

    /* All items that match were handed over.
     * [processor] since 1.0 */
    larder_status (*end_matching)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* At least one item needs cleanup.
     * [processor] since 1.0 */
    larder_status (*begin_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* An item needs cleanup: the time to ask for actions. A failure skips this item alone.
     * [processor] since 1.0 */
    larder_status (*perform_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger, const larder_item *item);

    /* All items that need cleanup were handed over.
     * [processor] since 1.0 */
    larder_status (*end_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* The run is over for this processor.
     * [processor] since 1.0 */
    larder_status (*did_pass_trigger)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* How many of the actions that it asked for may be under way at a time; 0: any number. With a maximum, perform_action
     * and perform_cleanup are called for no more items than there is room for, and not for those for which what they
     * asked for is under way; an action beyond that is refused with LARDER_LIMIT. An action that waits for a person, or
     * for more than ten seconds, takes no room; when it may go on, it is held until there is room. When about half of the others are done, and items are left, the host makes
     * another run with LARDER_TRIGGER_SYNC_CAPACITY, which must be in the mask. */
    uint64_t max_records;
} larder_item_policy_processor;

LARDER_END

#endif
