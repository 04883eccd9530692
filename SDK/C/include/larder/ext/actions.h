/* ext/actions.h: the actions that a plugin may ask for, "larder.actions/1".
 *
 * The host carries nothing out during the call. It notes the request. When the plugin's call returns LARDER_OK, the
 * request becomes a record in the journal of the sync engine, which carries it out when its turn comes, also after a
 * restart.
 *
 * While a request is in progress, a request of the same plugin for the same thing has no effect. So a run that is
 * repeated after a crash asks for nothing twice. Without a key, two requests ask for the same thing if they ask for the
 * same action on the same item. Such requests are the fastest: the host records many of them at once. A plugin that
 * means something else gives its requests keys of its own; then two ask for the same thing if they have the same key.
 *
 * A request without a key has an absent text as its key: `larder_str_make(NULL, 0)`. `download`, `remove_local_copy` and
 * `purge` take one since 1.4, and a host before that refuses it with LARDER_INVALID_ARGUMENT. Every other request needs
 * a key.
 *
 * The host refuses an action that would lose data, whoever asks for it: it neither removes nor overwrites a file with
 * changes that the server is not known to have.
 *
 * The functions from `create_folder` on change what is on the server. For them the operator must grant the plugin
 * `server-changes`; without the grant they return LARDER_DENIED. Their requests obey the same rules as a person's
 * commands. A request that turns out to be impossible, such as a move to a path at which there is something, changes
 * nothing, and the plugin's log says why. If a plugin's deletions of 24 hours go beyond the operator's `removal-guard`,
 * they wait for a person, who approves or rejects them.
 *
 * Example:
 *
 *     static larder_status download(const larder_host *host, const larder_actions *actions, const larder_item *item) {
 *         return actions->download(host, item->local_id, 0, larder_str_make(NULL, 0));
 *     }
 */
#ifndef LARDER_EXT_ACTIONS_H
#define LARDER_EXT_ACTIONS_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_ACTIONS "larder.actions/1"

/* Downloads only if the item is still covered. Just before the first request to the server, the host checks whether the
 * item meets a stored policy of the processor's kind, or the policy condition that the processor gave in its last run.
 * If not, it drops the download. */
#define LARDER_DOWNLOAD_WHILE_COVERED 0x01u
/* Downloads only as an update: if there is no copy of which the server has a newer version, nothing happens. The copy
 * keeps its trigger. */
#define LARDER_DOWNLOAD_AS_UPDATE 0x02u

/* Keeps a copy that was here for another reason before this plugin asked for it. The copy gets its former trigger back
 * and counts as used now. Only a copy that came here for this plugin is removed. */
#define LARDER_REMOVE_RESTORE_FORMER 0x01u

/* Removes only a copy that nobody uses. The host skips a copy that a program has open, that is claimed, that was used
 * since the run began, that has been replaced since then, or that another action is already planned for. It then forgets
 * the request and reports it nowhere. Without this flag the host removes a copy that is in use or claimed later, when it
 * is neither any more. */
#define LARDER_REMOVE_IF_UNUSED 0x02u

/* Makes a new version of a file that the server has at the path. Without this flag such a file is in the way. */
#define LARDER_UPLOAD_REPLACE 0x01u

LARDER_BEGIN

/* The actions service. `local_id` is that of an item. `key` is absent where it may be, or 1 byte to 1 KiB; the host
 * copies both. */
typedef struct larder_actions {
    uint32_t struct_size;
    uint32_t reserved;

    /* Asks for a download of the file's newest version; for a folder: that it is kept here as a folder. `flags` is a
     * set of LARDER_DOWNLOAD_…. A copy that is current is adopted without a request to the server: its trigger becomes
     * the plugin's, and the host remembers the former one. A copy that is not current stays until the new one is
     * complete. A request that repeats one in progress, or asks for a state that is already reached, does nothing.
     * Returns LARDER_NOT_FOUND (no such item), LARDER_LIMIT (a key above 1 KiB, or max_records actions are in progress)
     * or LARDER_INVALID_ARGUMENT (an empty key).
     * [processor] since 1.0 */
    larder_status (*download)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks for the removal of the file's local copy; for a folder: of the folder, if it is empty by then. It needs no
     * server. `flags` is a set of LARDER_REMOVE_…. A modified copy stays. A copy that is in use or claimed stays as
     * long as it is, unless LARDER_REMOVE_IF_UNUSED says otherwise. The host checks again when the request's turn
     * comes: a copy that an available-offline policy covers by then stays. A request that repeats one in progress, or
     * asks for a state that is already reached, does nothing. Returns LARDER_NOT_FOUND, LARDER_LIMIT or
     * LARDER_INVALID_ARGUMENT as `download` does.
     * [processor] since 1.0 */
    larder_status (*remove_local_copy)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks the host to forget an item that is no longer on the server, and to remove its local copy. A folder is
     * removed only when it is empty. `flags` is 0. An item stays known as it is if its copy is modified, in use or
     * claimed, if it cannot be removed, or if it is on the server again; the plugin may ask again later. Returns
     * LARDER_NOT_FOUND, LARDER_LIMIT or LARDER_INVALID_ARGUMENT as `download` does.
     * [processor] since 1.0 */
    larder_status (*purge)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks the item list to check the file or folder with this path on the server now, and everything below it that
     * changed. `path` is an absolute path of an item. Several requests for one path lead to one check; a path that does
     * not exist leads to nothing. Not allowed in poll and on_error. Returns LARDER_INVALID_ARGUMENT (not an item's
     * path) or LARDER_LIMIT (the turn asks for more than 16 MiB).
     * [loop] since 1.0 */
    larder_status (*look)(const larder_host *host, larder_str path);

    /* Asks for the creation of a folder on the server. The folder above it is there, or was asked for before. `path` is
     * an absolute path of an item. `flags` is 0. A folder that is there, or about to be made, is left as it is. Returns
     * LARDER_DENIED (`server-changes` is not granted), LARDER_LIMIT (a key above 1 KiB, or max_records actions are in
     * progress) or LARDER_INVALID_ARGUMENT (an empty key, or not an item's path).
     * [processor] since 1.1 */
    larder_status (*create_folder)(const larder_host *host, larder_str path, uint32_t flags, larder_str key);

    /* Asks for the move of an item, with all that is in it, to another path on the server: also for another name. The
     * local copies move too. `target` is an absolute path at which there is nothing. `flags` is 0. Returns
     * LARDER_NOT_FOUND (no such item), LARDER_DENIED, LARDER_LIMIT or LARDER_INVALID_ARGUMENT as `create_folder` does.
     * [processor] since 1.1 */
    larder_status (*move)(const larder_host *host, larder_str local_id, larder_str target, uint32_t flags,
                          larder_str key);

    /* Asks for a copy of an item, with all that is in it, on the server. `target` is an absolute path at which there is
     * nothing. `flags` is 0. Returns the statuses that `move` does.
     * [processor] since 1.1 */
    larder_status (*copy)(const larder_host *host, larder_str local_id, larder_str target, uint32_t flags,
                          larder_str key);

    /* Asks for the deletion of an item, with all that is in it, on the server. Only what the host knows of is deleted:
     * if something there is new or has changed since, a person decides. Files that were changed here, or exist only
     * here, stay here. `flags` is 0. From the first deletion of a run on, the requests of the run wait for the run's
     * end, when the host knows how many deletions there are. Returns the statuses that `move` does.
     * [processor] since 1.1 */
    larder_status (*remove_from_server)(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key);

    /* Asks to make an item a favorite of the account (`is_favorite` is 1), or to end that (0). Only servers of the
     * ownCloud family have favorites. `flags` is 0. Returns the statuses that `move` does.
     * [processor] since 1.1 */
    larder_status (*set_favorite)(const larder_host *host, larder_str local_id, uint32_t is_favorite, uint32_t flags,
                                  larder_str key);

    /* Asks for the upload of a file of the plugin's own, which is among the assets of one of its projects
     * (larder.projects/1). The host takes a snapshot of the file during the call, so that the plugin may change or
     * remove the file afterwards. The uploaded file is then also a copy here, with the plugin as its trigger. `project`
     * is the project's id. `file` is the file's path below the project's folder of assets, such as "out/list.csv": no
     * name in it is "." or "..", and nothing on it is a symbolic link. `path` is an absolute path of an item. `flags` is
     * a set of LARDER_UPLOAD_…. A version that the host does not know of is not replaced: a person, or the account's
     * rules for conflicts, decide. Returns LARDER_NOT_FOUND (no such project or file), LARDER_DENIED (`server-changes`
     * is not granted, or a symbolic link is on the way), LARDER_INVALID_ARGUMENT (also: it is no regular file),
     * LARDER_LIMIT (also: 100 uploads of the run are not recorded yet, which they are after 100 of them unless the run
     * asked for a deletion), LARDER_UNSUPPORTED (this host keeps no projects) or LARDER_IO (the file cannot be read, it
     * changes all the while, or there is no room for the snapshot).
     * [processor] since 1.1 */
    larder_status (*upload)(const larder_host *host, larder_str project, larder_str file, larder_str path,
                            uint32_t flags, larder_str key);
} larder_actions;

LARDER_END

#endif
