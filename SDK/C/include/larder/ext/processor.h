/* ext/processor.h: a plugin that processes items, "larder.item-policy-processor/1".
 *
 * When a trigger of the processor's mask fires, the host makes a run. A run is this sequence of calls:
 *
 *   update_policies       in the first run, and whenever the policies changed since the last run
 *   preflight             with the changed items, if the trigger is about single items
 *   will_enter_trigger
 *   begin_matching        ┐
 *   perform_action        │ for each item that meets the match condition; none of the three calls if there is no such
 *   end_matching          ┘ item or no condition
 *   begin_cleanup         ┐
 *   perform_cleanup       │ the same for the cleanup condition
 *   end_cleanup           ┘
 *   did_pass_trigger
 *
 * A run sees the items in their state at its start. The processor's requests of a call (actions, policies, values) take
 * effect when the call returns LARDER_OK. The host drops the requests of a call that fails, and goes on with the next
 * call. It carries the requests out in order. That may fire the triggers again: they start another run after this one.
 *
 * Scenarios:
 *
 *  I.   Keep the items that a policy names. Match: items that are covered and not here. Action: download. Cleanup:
 *     items
 *       that this plugin brought here and that no policy covers any more. Action: remove the local copy.
 *  II.  Remove copies that were not used for a week. No policies, no match condition. Cleanup: `cloudStatus ==
 *      "localCopy"
 *       && lastUsed < now - duration("168h")`.
 *  III. Follow a folder that is moved. Preflight: one of the changed items has the id that a policy is for and another
 *       path. Update the policy.
 *  IV.  Work through many items a few at a time. Set max_records: the host hands over only as many items as there is
 *      room
 *       for, and the rest later with syncCapacity. Without max_records, the processor asks for actions for all matching
 *       items at once, and the host works these actions off in order.
 *
 * Advice to plugins: let the conditions decide, so that the host hands over only items that need something. An index
 * answers a condition; a call costs more. Ask only for changes that are still needed: the next run must come to rest.
 *
 * Advice to hosts: ask for the mask before each run, for the policy condition and the match condition after
 * will_enter_trigger, and for the cleanup condition after matching. If a condition does not parse, the call that
 * returned it has failed: name it in the log, and go on as if it were absent.
 *
 * Example:
 *
 *     struct archive {
 *         larder_instance instance;
 *         const larder_host *host;
 *         const larder_actions *actions;
 *     };
 *
 *     static larder_status match_condition(void *context, larder_str *out) {
 *         (void)context;
 *         *out = LARDER_STR("favorite && !removed && cloudStatus == \"cloudOnly\"");
 *         return LARDER_OK;
 *     }
 *
 *     static larder_status perform_action(void *context, uint32_t trigger, const larder_item *item) {
 *         struct archive *self = (struct archive *)context;
 *         (void)trigger;
 *         return self->actions->download(self->host, item->local_id, 0, item->local_id);
 *     }
 */
#ifndef LARDER_EXT_PROCESSOR_H
#define LARDER_EXT_PROCESSOR_H

#include "../base.h"
#include "../item.h"
#include "../policy.h"
#include "../trigger.h"

#define LARDER_EXT_ITEM_POLICY_PROCESSOR "larder.item-policy-processor/1"

LARDER_BEGIN

/* The functions of a processor. `context` is that of the instance. A function that fails says why with the host's
 * `fail`; the host then goes on with the next call of the run, except where the function's comment says otherwise. */
typedef struct larder_item_policy_processor {
    uint32_t struct_size;
    uint32_t reserved;
    /* The kind of the policies that the processor is for: letters and digits, or the plugin's id. It is unique among
     * the plugins of a host. */
    larder_str kind;
    /* The fields that the processor reads of the items that it gets: a mask of LARDER_FIELD_BITs. */
    uint64_t fields;

    /* Returns the triggers that the processor wants now: a mask of LARDER_TRIGGER_BITs, LARDER_TRIGGERS_ALL, or 0 for
     * none. Called before each run.
     * [processor] since 1.0 */
    uint32_t (*triggers)(void *LARDER_NULLABLE context);

    /* Sets `*out` to the condition of the items that the processor covers. As a rule this is any of the policies'
     * conditions, together with the items that the processor covers by itself. Called in each run after
     * will_enter_trigger. If `*out` is left absent, the processor covers nothing by itself. The host uses the
     * condition, together with the stored policies of the kind, to say whether an item is covered. It has no part in
     * matching, which depends on the next two conditions only. Like a policy's condition, and unlike the next two, it
     * cannot name "availableOffline" and "claimed", which policies decide.
     * [processor] since 1.0 */
    larder_status (*policy_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* Sets `*out` to the condition of the items for which the host calls perform_action. If it is left absent, the host
     * calls perform_action for no item. Called in each run after will_enter_trigger.
     * [processor] since 1.0 */
    larder_status (*match_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* Sets `*out` to the condition of the items for which the host calls perform_cleanup. If it is left absent, the
     * host calls perform_cleanup for no item. Called in each run after matching.
     * [processor] since 1.0 */
    larder_status (*cleanup_condition)(void *LARDER_NULLABLE context, larder_str *out);

    /* Hands over all policies of the processor's kind. They replace those of the call before. The list is borrowed for
     * the call. After a failure the host hands the policies over again in the next run, and leaves matching and cleanup
     * out of this one.
     * [processor] since 1.0 */
    larder_status (*update_policies)(void *LARDER_NULLABLE context, const larder_policy_list *policies);

    /* Gives the processor the time to bring policies up to date. With LARDER_TRIGGER_ITEMS_CHANGED, `changed` is a
     * stream of the items that were added, updated or removed; a removed item has `removed` set. With every other
     * trigger `changed` is null. The host closes the stream. After a failure the host leaves matching and cleanup out of
     * this run.
     * [processor] since 1.0 */
    larder_status (*preflight)(void *LARDER_NULLABLE context, uint32_t trigger,
                               larder_item_cursor *LARDER_NULLABLE changed);

    /* Begins the main part of the run. This is the time to read the clock or to reset counters. After a failure the host
     * leaves matching and cleanup out of this run: a processor that does not know what it has to keep must fail here.
     * [processor] since 1.0 */
    larder_status (*will_enter_trigger)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Begins matching. Called only if at least one item matches.
     * [processor] since 1.0 */
    larder_status (*begin_matching)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Asks for actions for an item that matches. The item is borrowed for the call. A failure skips this item only.
     * [processor] since 1.0 */
    larder_status (*perform_action)(void *LARDER_NULLABLE context, uint32_t trigger, const larder_item *item);

    /* Ends matching, after the last item that matches.
     * [processor] since 1.0 */
    larder_status (*end_matching)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Begins cleanup. Called only if at least one item meets the cleanup condition.
     * [processor] since 1.0 */
    larder_status (*begin_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Asks for actions for an item that meets the cleanup condition. The item is borrowed for the call. A failure skips
     * this item only.
     * [processor] since 1.0 */
    larder_status (*perform_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger, const larder_item *item);

    /* Ends cleanup, after the last item that meets the cleanup condition.
     * [processor] since 1.0 */
    larder_status (*end_cleanup)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* Ends the run for this processor.
     * [processor] since 1.0 */
    larder_status (*did_pass_trigger)(void *LARDER_NULLABLE context, uint32_t trigger);

    /* The greatest number of the processor's actions that may be in progress at a time; 0: any number. With a maximum,
     * the host calls perform_action and perform_cleanup for no more items than there is room for, and not for items
     * whose earlier actions are in progress. It refuses an action beyond the maximum with LARDER_LIMIT. An action that
     * waits for a person, or for more than ten seconds, takes no room; once it may go on, the host holds it until there
     * is room. When about half of the other actions are done and items are left, the host makes another run with
     * LARDER_TRIGGER_SYNC_CAPACITY, which must be in the mask. */
    uint64_t max_records;
} larder_item_policy_processor;

LARDER_END

#endif
