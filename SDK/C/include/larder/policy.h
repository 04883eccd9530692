/* policy.h: an item policy, as a plugin sees and writes it.
 *
 * A policy belongs to a kind, and a kind belongs to one processor. The policy's condition names the items that the
 * policy is for. The processor decides what happens to these items. The host only stores the members path, local_id and
 * data, which are the processor's own, and description, which is for people. An absent member has a null pointer.
 *
 * Example:
 *
 *     static uint64_t count_named(const larder_policy_list *list) {
 *         uint64_t index, named = 0;
 *         for (index = 0; index < list->count; index++) {
 *             if (larder_policy_at(list, index)->identifier.ptr) named++;
 *         }
 *         return named;
 *     }
 */
#ifndef LARDER_POLICY_H
#define LARDER_POLICY_H

#include "base.h"

LARDER_BEGIN

/* A policy. */
typedef struct larder_policy {
    uint32_t struct_size;
    uint32_t reserved;
    /* The revision, which rises with each update. */
    int64_t revision;
    larder_str id;               /* a UUID */
    larder_str kind;             /* "availableOffline" */
    larder_str identifier;       /* a stable name, may be absent; "_sys.…" is only listed on request */
    larder_str description;      /* for people, may be absent */
    larder_str condition;        /* "path == \"/Photos\" || path.startsWith(\"/Photos/\")" */
    larder_str path;             /* the processor's own, may be absent: "/Photos" */
    larder_str local_id;         /* the processor's own, may be absent */
    /* A condition, may be absent: the host removes the policy when a finished scan leaves no item that meets it. */
    larder_str remove_when_none;
    larder_bytes data; /* the processor's own, may be absent; at most 1 MiB */
} larder_policy;

/* A list of policies, oldest first. Use larder_policy_at to read it. */
typedef struct larder_policy_list {
    uint32_t struct_size;
    uint32_t stride; /* the distance from one policy to the next, in bytes */
    const void *LARDER_NULLABLE policies;
    uint64_t count;
} larder_policy_list;

/* Returns the policy with this index, which must be below `count`. It lives as long as the list. */
static inline const larder_policy *larder_policy_at(const larder_policy_list *list, uint64_t index) {
    return (const larder_policy *)(const void *)((const char *)list->policies + index * list->stride);
}

LARDER_END

#endif
