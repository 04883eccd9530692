/* ext/projects.h: state with undo, "larder.projects/1".
 *
 * A project is a list of steps with a cursor, bytes of the plugin's own (user data), and a folder of files (assets); each step
 * has user data and assets too, and never changes. Undo and redo move the cursor; a new step takes the place of those that
 * were undone. A person sees the projects and undoes steps with `larder project`, so a plugin fetches a project before it
 * relies on what it knows of it.
 *
 * WRITES ARE MADE AT ONCE. They are on the disk when the function returns, whatever becomes of the call under way: other than
 * actions, policies, values and records they are no part of what the call asks for. So a call that fails has its change of a
 * project made all the same, and one that is made again after a crash finds the change of the first time there. Put into the
 * project's user data what tells you, in the same update: the event id, the run, how far you came.
 *
 * Each update is one: a reader, also after a crash, finds the project as it was before or as it is after. In a preview, such
 * as `larder explain`, reads work and writes return LARDER_DENIED.
 *
 * A plugin's projects are those that it made for this account, and their copies; no other is there for it. They outlive the
 * plugin: the operator deletes them. A quota is for the files of all of them, assets included. Functions may wait for a command
 * that writes at the same time.
 */
#ifndef LARDER_EXT_PROJECTS_H
#define LARDER_EXT_PROJECTS_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_PROJECTS "larder.projects/1"

/* Which parts of a project are to be fetched besides what is small. */
#define LARDER_PROJECT_STEPS 0x01u
#define LARDER_PROJECT_USER_DATA 0x02u

/* The order of a list; without any: by creation, the latest first. */
#define LARDER_PROJECTS_BY_MODIFICATION 0x01u
#define LARDER_PROJECTS_OLDEST_FIRST 0x02u

/* An update's cursor: as many steps applied as now. */
#define LARDER_PROJECT_CURSOR_STAYS (-1)

LARDER_BEGIN

/* Ids of projects or steps: "0C0CA4A1-95BF-4C84-84A5-1AB3D7D1B1F6". */
typedef struct larder_project_ids {
    uint32_t struct_size;
    uint32_t reserved;
    const larder_str *LARDER_NULLABLE ids;
    uint64_t count;
} larder_project_ids;

typedef struct larder_project {
    uint32_t struct_size;
    uint32_t can_undo; /* 1: a step is applied */
    uint32_t can_redo; /* 1: a step is not applied */
    uint32_t reserved;
    int64_t created;
    int64_t modified;    /* by the last update; changes of assets do not count */
    uint64_t cursor;     /* how many of the steps are applied: the current one is the one before this index */
    uint64_t step_count;
    const larder_str *LARDER_NULLABLE step_ids; /* as many, in their order; null unless they were asked for */
    larder_bytes user_data;                     /* absent unless it was asked for; empty in a new project */
    larder_str assets;                          /* the path of a folder that the plugin changes as it likes */
} larder_project;

typedef struct larder_project_step {
    uint32_t struct_size;
    uint32_t reserved;
    larder_bytes user_data;
    larder_str assets; /* the path of a folder, empty if the step was added without assets */
} larder_project_step;

/* A step that is to be added. */
typedef struct larder_project_new_step {
    uint32_t struct_size;
    uint32_t reserved;
    larder_bytes user_data; /* absent: empty */
    /* The absolute path of a folder that is copied as the step's assets, by reference where the file system can do that; absent:
     * none. It stays, and is the plugin's to remove. It must not lie among the projects, nor be, hold or lie in a vault or a
     * folder of local copies, and its symbolic links must be relative and lead to what lies in it. */
    larder_str assets_source;
} larder_project_new_step;

/* What an update changes, in this order: steps are added where the cursor stood, steps are deleted, the cursor is set. */
typedef struct larder_project_update {
    uint32_t struct_size;
    uint32_t add_stride; /* of `add` */
    int64_t cursor;      /* how many steps are to be applied then; or LARDER_PROJECT_CURSOR_STAYS */
    const larder_str *LARDER_NULLABLE delete_ids; /* steps; those that the project does not have are passed over */
    uint64_t delete_count;
    const void *LARDER_NULLABLE add; /* larder_project_new_step, in their order */
    uint64_t add_count;
    larder_bytes user_data; /* in place of the project's; absent: it stays */
    int64_t if_modified;    /* `modified` as it was fetched: only if the project is still that; 0: whatever it is */
} larder_project_update;

typedef struct larder_project_usage {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t bytes; /* of all files of the plugin's projects */
    uint64_t quota;
} larder_project_usage;

/* What functions hand out is borrowed until the call under way returns. Before a function that fills a struct, set the
 * struct's struct_size. User data are at most 16 MiB, and an update names at most 10,000 steps to delete and to add. An id that
 * is none, or another's, is LARDER_NOT_FOUND. */
typedef struct larder_projects {
    uint32_t struct_size;
    uint32_t reserved;

    /* Lists the plugin's projects; `order` is LARDER_PROJECTS_…. Returns LARDER_IO.
     * [any] since 1.0 */
    larder_status (*list)(const larder_host *host, uint32_t order, larder_project_ids *out);

    /* Fetches a project as it is now, with the parts LARDER_PROJECT_…. Returns LARDER_NOT_FOUND, LARDER_IO.
     * [any] since 1.0 */
    larder_status (*fetch)(const larder_host *host, larder_str id, uint32_t parts, larder_project *out);

    /* Fetches a step. Returns LARDER_NOT_FOUND (no such project, or it has no such step), LARDER_IO.
     * [any] since 1.0 */
    larder_status (*fetch_step)(const larder_host *host, larder_str id, larder_str step, larder_project_step *out);

    /* Says how much room the plugin's projects take. Looks at each of their files. Returns LARDER_IO.
     * [any] since 1.0 */
    larder_status (*usage)(const larder_host *host, larder_project_usage *out);

    /* Makes a project without steps and data, and hands out its id. Called again, it makes another one. Not in a loop's poll
     * or on_error, like all functions below. Returns LARDER_LIMIT (the quota), LARDER_DENIED (a preview), LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*create)(const larder_host *host, larder_str *out);

    /* Applies an update, whole or not at all, and hands out the ids of the steps that were added. One that does not make the
     * projects larger is not held up by the quota. Returns LARDER_NOT_FOUND, LARDER_INVALID_ARGUMENT (a cursor that the
     * steps do not reach, a source of assets that cannot be used), LARDER_CONFLICT (if_modified), LARDER_LIMIT (the quota),
     * LARDER_DENIED, LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*update)(const larder_host *host, larder_str id, const larder_project_update *update,
                            larder_project_ids *out);

    /* Adds a step behind the current one, makes it current, and hands out its id; steps that were undone are deleted.
     * `user_data` is put in place of the project's in the same update; absent: it stays. Whatever somebody else did to the
     * project before, the step is added to what it is now. Returns as `update`.
     * [processor] [loop] since 1.0 */
    larder_status (*add_step)(const larder_host *host, larder_str id, const larder_project_new_step *step,
                              larder_bytes user_data, larder_str *out);

    /* Goes one step back, or forward. Returns LARDER_NOT_FOUND (no such project, or no step to go to), LARDER_DENIED,
     * LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*undo)(const larder_host *host, larder_str id);

    /* See undo.
     * [processor] [loop] since 1.0 */
    larder_status (*redo)(const larder_host *host, larder_str id);

    /* Makes a copy of a project with its steps, cursor, data and assets, and hands out its id. Its dates are its own, its
     * steps' ids the original's. Returns LARDER_NOT_FOUND, LARDER_LIMIT (the quota), LARDER_DENIED, LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*duplicate)(const larder_host *host, larder_str id, larder_str *out);

    /* Removes a project with all that is in it, for good. Removed again, it is LARDER_NOT_FOUND. Returns LARDER_DENIED,
     * LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str id);
} larder_projects;

LARDER_END

#endif
