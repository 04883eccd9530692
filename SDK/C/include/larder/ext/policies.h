/* ext/policies.h: the policies of the processor's own kind, "larder.policies/1".
 *
 * Like actions, changes are taken note of and made when the call returns well. Another processor's policies are
 * neither seen nor changed.
 *
 * A change of policies sets off LARDER_TRIGGER_POLICIES_CHANGED, and with it a look at all items. A processor that
 * follows a moved folder changes words, not what is covered: it says LARDER_POLICY_QUIET. Its update_policies is
 * called before its next run in any case.
 */
#ifndef LARDER_EXT_POLICIES_H
#define LARDER_EXT_POLICIES_H

#include "../base.h"
#include "../host.h"
#include "../policy.h"

#define LARDER_EXT_POLICIES "larder.policies/1"

/* No LARDER_TRIGGER_POLICIES_CHANGED follows. */
#define LARDER_POLICY_QUIET 0x01u

LARDER_BEGIN

typedef struct larder_policies {
    uint32_t struct_size;
    uint32_t reserved;

    /* Lists the policies as they were at the start of the run, as update_policies has it. Set out->struct_size before;
     * all of it is borrowed until the call under way returns.
     * [processor] since 1.0 */
    larder_status (*list)(const larder_host *host, larder_policy_list *out);

    /* Asks for a new policy. Its condition must be there; id, revision and kind are the host's and not read. Asked
     * again, it adds another one. Returns LARDER_INVALID_ARGUMENT (a condition does not parse), LARDER_LIMIT (data
     * above 1 MiB).
     * [processor] since 1.0 */
    larder_status (*add)(const larder_host *host, const larder_policy *policy, uint32_t flags);

    /* Asks that the policy with this id and revision becomes what is given, in all members but id, revision and kind.
     * Returns LARDER_NOT_FOUND, LARDER_CONFLICT (it has another revision by now), and as add does. A policy that
     * changes or goes after the call but before it is carried out wins: the update is dropped, and named in the log.
     * [processor] since 1.0 */
    larder_status (*update)(const larder_host *host, const larder_policy *policy, uint32_t flags);

    /* Asks that the policy with this id and revision goes. Returns LARDER_NOT_FOUND, LARDER_CONFLICT.
     * [processor] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str id, int64_t revision, uint32_t flags);
} larder_policies;

LARDER_END

#endif
