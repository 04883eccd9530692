/* ext/policies.h: the policies of the processor's own kind, "larder.policies/1".
 *
 * The host notes a change as it notes an action, and makes it when the call returns LARDER_OK. A processor neither sees
 * nor changes the policies of another processor.
 *
 * A change of policies fires LARDER_TRIGGER_POLICIES_CHANGED, and the run after it considers all items. A processor
 * that follows a moved folder only changes a policy's text, not the set of covered items: it passes
 * LARDER_POLICY_QUIET. The host calls the processor's update_policies before its next run in any case.
 *
 * Example:
 *
 *     static larder_status add_photos(const larder_host *host, const larder_policies *policies) {
 *         larder_policy policy;
 *         memset(&policy, 0, sizeof policy);
 *         policy.struct_size = sizeof policy;
 *         policy.condition = LARDER_STR("path == \"/Photos\" || path.startsWith(\"/Photos/\")");
 *         policy.path = LARDER_STR("/Photos");
 *         return policies->add(host, &policy, 0);
 *     }
 */
#ifndef LARDER_EXT_POLICIES_H
#define LARDER_EXT_POLICIES_H

#include "../base.h"
#include "../host.h"
#include "../policy.h"

#define LARDER_EXT_POLICIES "larder.policies/1"

/* Changes the policy without firing LARDER_TRIGGER_POLICIES_CHANGED. */
#define LARDER_POLICY_QUIET 0x01u

LARDER_BEGIN

/* The policies service. `flags` is LARDER_POLICY_QUIET or 0. */
typedef struct larder_policies {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the policies at the start of the run, as update_policies gets them. Set out->struct_size
     * before. The list and everything in it is borrowed until the current call returns.
     * [processor] since 1.0 */
    larder_status (*list)(const larder_host *host, larder_policy_list *out);

    /* Asks for a new policy. `policy` must have a condition. The host assigns id, revision and kind, and does not read
     * them. A repeated call adds another policy. Returns LARDER_INVALID_ARGUMENT (a condition does not parse, or
     * names "availableOffline" or "claimed", which policies decide; or `path` is not an item's path) or LARDER_LIMIT (data above 1 MiB, or 10,000 policies of this kind).
     * [processor] since 1.0 */
    larder_status (*add)(const larder_host *host, const larder_policy *policy, uint32_t flags);

    /* Asks for new values of all members but id, revision and kind of the policy with this id and revision. If the
     * policy changes or is removed after this call but before the host carries the update out, the host drops the
     * update and names it in the log. Returns LARDER_NOT_FOUND, LARDER_CONFLICT (the policy has another revision by
     * now), or a status of `add`.
     * [processor] since 1.0 */
    larder_status (*update)(const larder_host *host, const larder_policy *policy, uint32_t flags);

    /* Asks for the removal of the policy with this id and revision. Returns LARDER_NOT_FOUND or LARDER_CONFLICT (the
     * policy has another revision by now).
     * [processor] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str id, int64_t revision, uint32_t flags);
} larder_policies;

LARDER_END

#endif
