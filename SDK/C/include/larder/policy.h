/* policy.h: an item policy, as a plugin sees and writes it.
 *
 * A policy belongs to a kind, and the kind to one processor. Its condition names the items that it is for; the
 * processor decides what is done with them. Four members are the processor's alone, and the host only keeps them:
 * path, local_id and data, and description for people. An absent member has a null pointer.
 */
#ifndef LARDER_POLICY_H
#define LARDER_POLICY_H

#include "base.h"

LARDER_BEGIN

typedef struct larder_policy {
    uint32_t struct_size;
    uint32_t reserved;
    /* Rises with each update. */
    int64_t revision;
    larder_str id;               /* a UUID */
    larder_str kind;             /* "availableOffline" */
    larder_str identifier;       /* a stable name, may be absent; "_sys.…" is not listed unless asked for */
    larder_str description;      /* for people, may be absent */
    larder_str condition;        /* "path == \"/Photos\" || path.startsWith(\"/Photos/\")" */
    larder_str path;             /* the processor's own, may be absent: "/Photos" */
    larder_str local_id;         /* the processor's own, may be absent */
    larder_str remove_when_none; /* a condition, may be absent: it goes when a finished scan leaves no such item */
    larder_bytes data;           /* the processor's own, may be absent; at most 1 MiB */
} larder_policy;

/* Policies, oldest first. */
typedef struct larder_policy_list {
    uint32_t struct_size;
    uint32_t stride; /* from one policy to the next, in bytes */
    const void *LARDER_NULLABLE policies;
    uint64_t count;
} larder_policy_list;

/* The policy with this index, below `count`. */
static inline const larder_policy *larder_policy_at(const larder_policy_list *list, uint64_t index) {
    return (const larder_policy *)(const void *)((const char *)list->policies + index * list->stride);
}

LARDER_END

#endif
