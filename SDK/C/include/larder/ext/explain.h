/* ext/explain.h: a processor that says why, "larder.explain/1".
 *
 * `larder explain PATH` tells a person what each processor would do with an item, and which part of its conditions
 * decides. A processor that knows more than its conditions tell says it here, in its own words: why it leaves alone an
 * item that it is called for, or what it waits for.
 *
 * The host makes a run for this one item in which nothing is carried out, and then calls explain once. So the processor
 * has its policies, and knows what it found in that run. If it wants no trigger now, it gets its policies alone before
 * explain. After a failure of update_policies explain is not called. No other run calls explain.
 *
 * The call changes nothing: the functions of the host that change something return LARDER_WRONG_STATE in it. All others
 * that a processor may use work as in a run.
 *
 * The extension is for plugins with a processor. Without it the host tells what it knows by itself. A host before 1.3
 * does not ask for it.
 *
 * Example:
 *
 *     static larder_status explain(void *context, const larder_item *item, larder_str *out) {
 *         (void)context;
 *         if (item->claims & LARDER_CLAIM_WRITE) *out = LARDER_STR("it stays as long as somebody writes to it");
 *         return LARDER_OK;
 *     }
 *
 *     static const larder_explain explainer = {sizeof(larder_explain), 0, explain};
 */
#ifndef LARDER_EXT_EXPLAIN_H
#define LARDER_EXT_EXPLAIN_H

#include "../base.h"
#include "../item.h"

#define LARDER_EXT_EXPLAIN "larder.explain/1"

LARDER_BEGIN

/* What a processor says of items. `context` is that of the instance. */
typedef struct larder_explain {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to what the processor says of an item, for a person: a part of a sentence, without a full stop. The
     * host shows the first 1,024 bytes as one line. If `*out` is left absent or empty, the processor says nothing. The
     * item has the fields that the processor names, is perhaps removed, and need meet no condition of the processor's.
     * It is borrowed for the call. After a failure, or with a text that is not UTF-8, the host tells what it knows by
     * itself.
     * [processor] since 1.3 */
    larder_status (*explain)(void *LARDER_NULLABLE context, const larder_item *item, larder_str *out);
} larder_explain;

LARDER_END

#endif
