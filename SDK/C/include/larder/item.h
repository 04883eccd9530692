/* item.h: a file or folder of the account, as a plugin sees it.
 *
 * An item has the fields that `larder ls --json` prints, in the same order. A plugin names the fields that it reads as
 * a mask, and the host fills only these: reading three columns of a row costs a third of reading fourteen. A set bit in
 * `present` means that the plugin asked for the field and the item has a value for it. Without the bit, the member is
 * zero and means nothing. So an absent value (a file whose size the server did not tell) differs from an empty one
 * (size 0).
 *
 * A plugin borrows an item. The item and everything that it points to are gone when the call returns. An item of a
 * cursor is gone when the plugin asks the cursor for the next one. Copy what you keep.
 *
 * Example:
 *
 *     static int is_large_file(const larder_item *item) {
 *         const uint64_t needed = LARDER_FIELD_BIT(LARDER_FIELD_TYPE) | LARDER_FIELD_BIT(LARDER_FIELD_SIZE);
 *         if ((item->present & needed) != needed) return 0;
 *         return item->type == LARDER_TYPE_FILE && item->size > 1000000;
 *     }
 */
#ifndef LARDER_ITEM_H
#define LARDER_ITEM_H

#include "base.h"

LARDER_BEGIN

/* The numbers of the fields: bits of a mask and of `present`. 23 to 63 are for later versions. */
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

/* The bit of a field in a mask and in `present`. */
#define LARDER_FIELD_BIT(field) (UINT64_C(1) << (field))

/* The kinds of items. */
#define LARDER_TYPE_FILE 0u
#define LARDER_TYPE_FOLDER 1u

/* The item is on the server only. */
#define LARDER_CLOUD_STATUS_CLOUD_ONLY 0u
/* The file has a local copy, which is the server's current version or an earlier one. The folder is kept here as a
 * folder. */
#define LARDER_CLOUD_STATUS_LOCAL_COPY 1u
/* The local copy has changes that the server is not known to have. */
#define LARDER_CLOUD_STATUS_LOCALLY_MODIFIED 2u
/* The item is here only. */
#define LARDER_CLOUD_STATUS_LOCAL_ONLY 3u

/* CURRENT: the copy is the newest version that the server is known to have. NEWER: the server has a newer version. */
#define LARDER_REMOTE_VERSION_CURRENT 0u
#define LARDER_REMOTE_VERSION_NEWER 1u

/* NONE: no policy keeps the item here. DIRECT: a policy names the item itself. INDIRECT: a policy names a folder above
 * it. */
#define LARDER_AVAILABLE_OFFLINE_NONE 0u
#define LARDER_AVAILABLE_OFFLINE_DIRECT 1u
#define LARDER_AVAILABLE_OFFLINE_INDIRECT 2u

/* The operations that are in progress on the item. This is a set. */
#define LARDER_SYNC_DOWNLOADING 0x01u
#define LARDER_SYNC_UPLOADING 0x02u
#define LARDER_SYNC_DELETING 0x04u
#define LARDER_SYNC_MOVING 0x08u
#define LARDER_SYNC_COPYING 0x10u
#define LARDER_SYNC_CREATING 0x20u
#define LARDER_SYNC_UPDATING 0x40u

/* The claims on the item's copy. This is a set. READ: somebody needs a version of the copy here, the newest if
 * possible. WRITE: somebody needs this very version. DELETE: somebody needs any version. Claims that have ended are not
 * included. The host removes no copy that is claimed. */
#define LARDER_CLAIM_READ 0x01u
#define LARDER_CLAIM_WRITE 0x02u
#define LARDER_CLAIM_DELETE 0x04u

/* An item. The comment of a field says what its value is if the bit in `present` is set. */
typedef struct larder_item {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t present;            /* the LARDER_FIELD_BIT of each field that has a value */
    larder_str path;             /* on the server, decoded, no closing slash: "/Photos/Ada.jpg"; the root is "/" */
    larder_str name;             /* "Ada.jpg" */
    larder_str mime_type;        /* "image/jpeg" */
    larder_str etag;             /* of the newest known version, without quotes and W/: "5f2-1a" */
    larder_str file_id;          /* the server's id of the item */
    larder_str local_id;         /* the host's id of the item, which survives moves; actions take it */
    larder_str download_trigger; /* the cause of the copy: "user", "availableOffline", or another plugin's id */
    larder_str parent_path;      /* "/Photos" */
    larder_str owner;            /* "ada" */
    larder_str permissions;      /* the server's letters: "RDNVW" */
    larder_str local_path;       /* the absolute path of the copy: "/home/ada/Cloud/Photos/Ada.jpg" */
    larder_str shares;           /* a JSON list of share ids; absent as long as no loop polls shares */
    int64_t size;                /* in bytes */
    int64_t last_modified;       /* in nanoseconds since 1970 UTC, as all times of day */
    int64_t last_used;           /* in nanoseconds since 1970 UTC */
    uint32_t type;               /* LARDER_TYPE_… */
    uint32_t cloud_status;       /* LARDER_CLOUD_STATUS_… */
    uint32_t removed;            /* 1: the item is no longer on the server */
    uint32_t favorite;           /* 1: the item is marked as a favorite on the server */
    uint32_t remote_version;     /* LARDER_REMOTE_VERSION_…; absent without a copy */
    uint32_t available_offline;  /* LARDER_AVAILABLE_OFFLINE_… */
    uint32_t sync_activity;      /* a set of LARDER_SYNC_… */
    uint32_t claims;             /* a set of LARDER_CLAIM_…; 0: nobody claims the copy */
} larder_item;

/* A stream of items. The host makes it. The comment of the function that hands it out says who closes it. */
typedef struct larder_item_cursor larder_item_cursor;

struct larder_item_cursor {
    uint32_t struct_size;
    uint32_t reserved;
    /* Belongs to the host; the plugin does not use it. */
    void *LARDER_NULLABLE context;

    /* Sets `*out` to the next item, or to null past the last item. Called again past the last item, it sets null again.
     * The item is borrowed until the next `next` or `close` of this cursor. Returns LARDER_CANCELLED (the call should
     * end) or LARDER_IO (the items cannot be read); the cursor is then at its end.
     * [processor] since 1.0 */
    larder_status (*next)(larder_item_cursor *cursor, const larder_item *LARDER_NULLABLE *LARDER_NONNULL out);
};

LARDER_END

#endif
