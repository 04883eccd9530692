/* ext/actions.h: what a plugin may ask to be done with an item, "larder.actions/1".
 *
 * Nothing is done in the call. The host takes note of what was asked; when the plugin's call returns well it becomes a
 * record in the journal of the sync engine, which carries it out when its turn comes, over restarts too.
 *
 * Each asking carries a key that the plugin chooses, which stands for what is asked: while the first is under way, the
 * same key of the same plugin asks for nothing more. So a run that is repeated after a crash asks for nothing twice.
 * Put into it what makes a new asking a new one, as a rule the item and its version: "download:8f31…:5f2-1a".
 *
 * The host refuses what would lose data, whoever asks: a file with changes that the server is not known to have is not
 * removed and not written over.
 */
#ifndef LARDER_EXT_ACTIONS_H
#define LARDER_EXT_ACTIONS_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_ACTIONS "larder.actions/1"

/* Only as long as the item is covered: just before the first request the host looks whether it meets a stored policy of
 * the processor's kind, or the policy condition that the processor gave in its last run, and drops the download if not. */
#define LARDER_DOWNLOAD_WHILE_COVERED 0x01u
/* Only as an update: without a copy that the server has newer, nothing is done. The copy keeps its trigger. */
#define LARDER_DOWNLOAD_AS_UPDATE 0x02u

/* A copy that was here for another reason before this plugin asked for it stays: it gets its former trigger back,
 * and counts as used now. Only a copy that came here for this plugin goes. */
#define LARDER_REMOVE_RESTORE_FORMER 0x01u

/* Only if nobody uses it: a copy that a program has open, that is claimed, that was used since the run began, or that
 * something else is to be done with already is passed over. Nothing is kept of the wish then, and nobody is told. Without
 * this flag a copy that is in use or claimed goes later, when it is not any more. */
#define LARDER_REMOVE_IF_UNUSED 0x02u

LARDER_BEGIN

typedef struct larder_actions {
    uint32_t struct_size;
    uint32_t reserved;

    /* Asks that the item's newest version is fetched. Of a folder: that it is kept here as a folder. A copy that is
     * current is adopted without a request: its trigger becomes the plugin's, and the former one is remembered. One
     * that is not stays until the new one is complete. Asked again while it is under way, or for what is already so,
     * it does nothing. `flags` are LARDER_DOWNLOAD_…. Returns LARDER_NOT_FOUND (no such item), LARDER_LIMIT (a key
     * above 1 KiB), LARDER_INVALID_ARGUMENT (an empty key).
     * [processor] since 1.0 */
    larder_status (*download)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks that the item's local copy is removed, or the folder, if it is empty by then. Needs no server. A modified copy
     * stays; one that is in use or claimed stays as long as it is, unless LARDER_REMOVE_IF_UNUSED says otherwise. It is
     * looked at again when its turn comes: a copy that an available-offline policy covers by then stays. Asked again
     * while it is under way, or for what is already so, it does nothing. `flags` are LARDER_REMOVE_…. Returns LARDER_NOT_FOUND, LARDER_LIMIT.
     * [processor] since 1.0 */
    larder_status (*remove_local_copy)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks that an item which is no longer on the server is forgotten, and its local copy removed. A folder goes only
     * when it is empty. What is modified, in use or claimed, cannot be removed, or is on the server again stays known as
     * it is, and may be asked for again later. `flags` are 0. Returns LARDER_NOT_FOUND, LARDER_LIMIT,
     * LARDER_INVALID_ARGUMENT.
     * [processor] since 1.0 */
    larder_status (*purge)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks that the item list looks at the file or folder with this path now, and at all below it that changed. Asked again,
     * or with a path that is not there, it looks once, or in vain. Not in poll or on_error.
     * [loop] since 1.0 */
    larder_status (*look)(const larder_host *host, larder_str path);
} larder_actions;

LARDER_END

#endif
