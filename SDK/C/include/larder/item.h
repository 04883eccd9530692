/* item.h: a file or folder of the account, as a plugin sees it.
 *
 * The fields are those that `larder ls --json` prints, in the same order. A plugin names the ones that it reads as a
 * mask, and the host fills only these: reading three columns of a row costs a third of reading fourteen. A bit in
 * `present` says that its field was asked for and has a value; without it the member is zero and means nothing. An
 * absent value (a file whose size the server did not tell) is thus different from an empty one (size 0).
 *
 * A view is borrowed: it and all that it points to are gone when the call returns, and for a cursor's item already
 * when the next one is asked for. Copy what you keep.
 */
#ifndef LARDER_ITEM_H
#define LARDER_ITEM_H

#include "base.h"

LARDER_BEGIN

/* Field numbers: bits of a mask and of `present`. 23 to 63 are for later versions. */
#define LARDER_FIELD_PATH 0
#define LARDER_FIELD_NAME 1
#define LARDER_FIELD_TYPE 2
#define LARDER_FIELD_SIZE 3
#define LARDER_FIELD_MIME_TYPE 4
#define LARDER_FIELD_ETAG 5
#define LARDER_FIELD_FILE_ID 6
#define LARDER_FIELD_LOCAL_ID 7
#define LARDER_FIELD_LAST_MODIFIED 8
#define LARDER_FIELD_LAST_USED 9
#define LARDER_FIELD_CLOUD_STATUS 10
#define LARDER_FIELD_DOWNLOAD_TRIGGER 11
#define LARDER_FIELD_REMOVED 12
#define LARDER_FIELD_FAVORITE 13
#define LARDER_FIELD_REMOTE_VERSION 14
#define LARDER_FIELD_PARENT_PATH 15
#define LARDER_FIELD_OWNER 16
#define LARDER_FIELD_PERMISSIONS 17
#define LARDER_FIELD_AVAILABLE_OFFLINE 18
#define LARDER_FIELD_SYNC_ACTIVITY 19
#define LARDER_FIELD_LOCAL_PATH 20
#define LARDER_FIELD_SHARES 21
#define LARDER_FIELD_CLAIMS 22

#define LARDER_FIELD_BIT(field) (UINT64_C(1) << (field))

#define LARDER_TYPE_FILE 0u
#define LARDER_TYPE_FOLDER 1u

/* On the server alone. */
#define LARDER_CLOUD_STATUS_CLOUD_ONLY 0u
/* Here too, as the server has or had it. Of a folder: it is kept here as a folder. */
#define LARDER_CLOUD_STATUS_LOCAL_COPY 1u
/* Here, with changes that the server is not known to have. */
#define LARDER_CLOUD_STATUS_LOCALLY_MODIFIED 2u
/* Here alone. */
#define LARDER_CLOUD_STATUS_LOCAL_ONLY 3u

/* The copy is the newest version that the server is known to have, or the server has a newer one. */
#define LARDER_REMOTE_VERSION_CURRENT 0u
#define LARDER_REMOTE_VERSION_NEWER 1u

/* Whether a policy keeps the item here, and whether it names the item itself or a folder above it. */
#define LARDER_AVAILABLE_OFFLINE_NONE 0u
#define LARDER_AVAILABLE_OFFLINE_DIRECT 1u
#define LARDER_AVAILABLE_OFFLINE_INDIRECT 2u

/* What is happening to the item now, a set. */
#define LARDER_SYNC_DOWNLOADING 0x01u
#define LARDER_SYNC_UPLOADING 0x02u
#define LARDER_SYNC_DELETING 0x04u
#define LARDER_SYNC_MOVING 0x08u
#define LARDER_SYNC_COPYING 0x10u
#define LARDER_SYNC_CREATING 0x20u
#define LARDER_SYNC_UPDATING 0x40u

/* Who says that the copy is needed here, a set: some version of it, the newest if possible (READ); this version as it is
 * (WRITE); some version (DELETE). Claims that have ended are not in it. The host removes no copy that is claimed. */
#define LARDER_CLAIM_READ 0x01u
#define LARDER_CLAIM_WRITE 0x02u
#define LARDER_CLAIM_DELETE 0x04u

typedef struct larder_item {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t present;            /* LARDER_FIELD_BIT of each field that has a value */
    larder_str path;             /* on the server, decoded, no closing slash: "/Photos/Ada.jpg"; the root is "/" */
    larder_str name;             /* "Ada.jpg" */
    larder_str mime_type;        /* "image/jpeg" */
    larder_str etag;             /* of the newest version that is known, without quotes and W/: "5f2-1a" */
    larder_str file_id;          /* the server's id */
    larder_str local_id;         /* the host's id, which stays the same through moves; actions take it */
    larder_str download_trigger; /* what made the copy: "user", "availableOffline", or another plugin's id */
    larder_str parent_path;      /* "/Photos" */
    larder_str owner;            /* "ada" */
    larder_str permissions;      /* the server's letters: "RDNVW" */
    larder_str local_path;       /* of the copy, absolute: "/home/ada/Cloud/Photos/Ada.jpg" */
    larder_str shares;           /* JSON, a list of share ids; absent as long as no loop polls shares */
    int64_t size;                /* in bytes */
    int64_t last_modified;       /* nanoseconds since 1970 UTC, as all times */
    int64_t last_used;
    uint32_t type;               /* LARDER_TYPE_… */
    uint32_t cloud_status;       /* LARDER_CLOUD_STATUS_… */
    uint32_t removed;            /* 1: no longer on the server */
    uint32_t favorite;           /* 1: marked as such on the server */
    uint32_t remote_version;     /* LARDER_REMOTE_VERSION_…; absent without a copy */
    uint32_t available_offline;  /* LARDER_AVAILABLE_OFFLINE_… */
    uint32_t sync_activity;      /* LARDER_SYNC_… */
    uint32_t claims;             /* LARDER_CLAIM_…; 0: nobody claims it */
} larder_item;

/* A stream of items. The host makes it; who closes it, its giver's card says. */
typedef struct larder_item_cursor larder_item_cursor;

struct larder_item_cursor {
    uint32_t struct_size;
    uint32_t reserved;
    /* The host's own. */
    void *LARDER_NULLABLE context;

    /* Hands out the next item, or null past the last, and then null each time. The item is borrowed until the next
     * `next` or `close` of this cursor. Returns LARDER_CANCELLED or LARDER_IO; the cursor is then at its end.
     * [processor] since 1.0 */
    larder_status (*next)(larder_item_cursor *cursor, const larder_item *LARDER_NULLABLE *LARDER_NONNULL out);
};

LARDER_END

#endif
