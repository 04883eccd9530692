/* ext/projects.h: state with steps, undo and redo, "larder.projects/1".
 *
 * A project is a list of steps with a cursor, some bytes of the plugin's own (user data), and a folder of files
 * (assets). Each step has user data and assets too, and never changes. Undo and redo move the cursor. A new step
 * replaces the steps that were undone. A person sees the projects and undoes steps with `larder project`, so a plugin
 * fetches a project before it relies on its own idea of it.
 *
 * WRITES ARE MADE AT ONCE. They are on the disk when the function returns, whatever happens to the current call. Unlike
 * actions, policies, values and records, they are no part of the call's requests. So a call that fails has changed the
 * project all the same, and a call that is repeated after a crash finds the change of the first time. Put into the
 * project's user data, in the same update, whatever tells you how far you came: the event id or the run.
 *
 * Each update is atomic: a reader, also after a crash, finds the project either as it was before or as it is after. In
 * a preview, such as `larder explain`, reads work, and writes return LARDER_DENIED.
 *
 * A plugin sees only the projects that it made for this account, and their copies. They outlive the plugin: the
 * operator deletes them. The quota is for the files of all of the plugin's projects, including assets. A function may
 * wait for a command that writes at the same time.
 *
 * Example:
 *
 *     static larder_status lower_limit(const larder_host *host, const larder_projects *projects, larder_str id) {
 *         static const uint8_t limit[] = "500000";
 *         larder_project_new_step step;
 *         larder_bytes unchanged = {NULL, 0};
 *         larder_str step_id;
 *         memset(&step, 0, sizeof step);
 *         step.struct_size = sizeof step;
 *         step.user_data.ptr = limit;
 *         step.user_data.len = sizeof limit - 1;
 *         return projects->add_step(host, id, &step, unchanged, &step_id);
 *     }
 */
#ifndef LARDER_EXT_PROJECTS_H
#define LARDER_EXT_PROJECTS_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_PROJECTS "larder.projects/1"

/* The parts of a project that `fetch` hands out on request. It always hands out the other members. */
#define LARDER_PROJECT_STEPS 0x01u
#define LARDER_PROJECT_USER_DATA 0x02u

/* The order of a list. Without a flag: by creation, the latest first. */
#define LARDER_PROJECTS_BY_MODIFICATION 0x01u
#define LARDER_PROJECTS_OLDEST_FIRST 0x02u

/* The cursor of an update that leaves the number of applied steps as it is. */
#define LARDER_PROJECT_CURSOR_STAYS (-1)

LARDER_BEGIN

/* Ids of projects or steps: "0C0CA4A1-95BF-4C84-84A5-1AB3D7D1B1F6". */
typedef struct larder_project_ids {
    uint32_t struct_size;
    uint32_t reserved;
    const larder_str *LARDER_NULLABLE ids;
    uint64_t count;
} larder_project_ids;

/* A project at the time of the fetch. */
typedef struct larder_project {
    uint32_t struct_size;
    uint32_t can_undo; /* 1: a step is applied */
    uint32_t can_redo; /* 1: a step is not applied */
    uint32_t reserved;
    int64_t created;     /* in nanoseconds since 1970 UTC */
    int64_t modified;    /* the last update, in nanoseconds since 1970 UTC; changes of assets do not count */
    uint64_t cursor;     /* the number of applied steps: the current step is the one before this index */
    uint64_t step_count;
    const larder_str *LARDER_NULLABLE step_ids; /* step_count ids in the steps' order; null unless asked for */
    larder_bytes user_data;                     /* absent unless asked for; empty in a new project */
    larder_str assets;                          /* the path of a folder that the plugin may change in any way */
} larder_project;

/* A step of a project. */
typedef struct larder_project_step {
    uint32_t struct_size;
    uint32_t reserved;
    larder_bytes user_data;
    larder_str assets; /* the path of a folder; empty if the step was added without assets */
} larder_project_step;

/* A step to add. */
typedef struct larder_project_new_step {
    uint32_t struct_size;
    uint32_t reserved;
    larder_bytes user_data; /* at most 16 MiB; absent: empty */
    /* The absolute path of a folder, which the host copies as the step's assets, by reference where the file system can
     * do that. Absent: the step has no assets. The folder stays, and the plugin removes it. It must not lie among the
     * projects, and it must not be, contain or lie in a vault or a folder of local copies. Its symbolic links must be
     * relative and must point to something inside it. */
    larder_str assets_source;
} larder_project_new_step;

/* A change of a project. The host makes it in this order: it adds the new steps at the cursor, deletes steps, and sets
 * the cursor. */
typedef struct larder_project_update {
    uint32_t struct_size;
    uint32_t add_stride; /* the distance from one step of `add` to the next, in bytes */
    int64_t cursor;      /* the number of applied steps after the update, or LARDER_PROJECT_CURSOR_STAYS */
    /* The ids of the steps to delete; null: none. The host ignores ids of steps that the project does not have. */
    const larder_str *LARDER_NULLABLE delete_ids;
    uint64_t delete_count;
    const void *LARDER_NULLABLE add; /* steps to add, larder_project_new_step, in their order; null: none */
    uint64_t add_count;
    larder_bytes user_data; /* replaces the project's user data, at most 16 MiB; absent: the user data stays */
    /* The value of `modified` that the plugin fetched: the host makes the update only if the project still has it. 0:
     * the host makes the update in any case. */
    int64_t if_modified;
} larder_project_update;

/* The room that the plugin's projects take. */
typedef struct larder_project_usage {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t bytes; /* the total size of all files of the plugin's projects */
    uint64_t quota; /* the greatest total size */
} larder_project_usage;

/* The projects service. Everything that a function hands out is borrowed until the current call returns. Set the
 * struct_size of a struct before a function fills it. An update may name at most 10,000 steps to delete and 10,000 to
 * add. An id that is no project's, or that of another plugin's or account's project, leads to LARDER_NOT_FOUND. */
typedef struct larder_projects {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the ids of the plugin's projects. `order` is a set of LARDER_PROJECTS_…. Returns LARDER_IO.
     * [any] since 1.0 */
    larder_status (*list)(const larder_host *host, uint32_t order, larder_project_ids *out);

    /* Fills `*out` with a project as it is now. `parts` is a set of LARDER_PROJECT_STEPS and LARDER_PROJECT_USER_DATA.
     * Returns LARDER_NOT_FOUND (no such project) or LARDER_IO (the project cannot be read, or is damaged).
     * [any] since 1.0 */
    larder_status (*fetch)(const larder_host *host, larder_str id, uint32_t parts, larder_project *out);

    /* Fills `*out` with a step. `id` is that of the project, `step` that of the step. Returns LARDER_NOT_FOUND (no such
     * project, or the project has no such step) or LARDER_IO.
     * [any] since 1.0 */
    larder_status (*fetch_step)(const larder_host *host, larder_str id, larder_str step, larder_project_step *out);

    /* Fills `*out` with the room that the plugin's projects take. It inspects each of their files. Returns LARDER_IO.
     * [any] since 1.0 */
    larder_status (*usage)(const larder_host *host, larder_project_usage *out);

    /* Creates a project without steps and user data, and sets `*out` to its id. Each call creates another project. This
     * function and all below are not allowed in a loop's poll and on_error. Returns LARDER_LIMIT (the quota is
     * reached), LARDER_DENIED (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*create)(const larder_host *host, larder_str *out);

    /* Makes an update, all of it or nothing, and fills `*out` with the ids of the added steps. The quota does not stop
     * an update that makes the projects no larger. Returns LARDER_NOT_FOUND, LARDER_INVALID_ARGUMENT (a cursor beyond
     * the steps, or a source of assets that cannot be used), LARDER_CONFLICT (the project no longer has if_modified),
     * LARDER_LIMIT (the quota, more than 10,000 steps, or more than 16 MiB of user data), LARDER_DENIED (a preview) or
     * LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*update)(const larder_host *host, larder_str id, const larder_project_update *update,
                            larder_project_ids *out);

    /* Adds a step after the current one, makes it the current step, sets `*out` to its id, and deletes the steps that
     * were undone. `user_data` replaces the project's user data in the same update; absent: the user data stays. The
     * step is added to the project as it is now, whatever somebody else changed before. Returns the statuses of
     * `update`, but never LARDER_CONFLICT.
     * [processor] [loop] since 1.0 */
    larder_status (*add_step)(const larder_host *host, larder_str id, const larder_project_new_step *step,
                              larder_bytes user_data, larder_str *out);

    /* Moves the cursor one step back. Returns LARDER_NOT_FOUND (no such project, or no step is applied), LARDER_DENIED
     * (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*undo)(const larder_host *host, larder_str id);

    /* Moves the cursor one step forward. Returns LARDER_NOT_FOUND (no such project, or all steps are applied),
     * LARDER_DENIED (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*redo)(const larder_host *host, larder_str id);

    /* Copies a project with its steps, cursor, user data and assets, and sets `*out` to the copy's id. The copy has
     * dates of its own, and its steps have the ids of the original's. Returns LARDER_NOT_FOUND, LARDER_LIMIT (the quota
     * is reached), LARDER_DENIED (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*duplicate)(const larder_host *host, larder_str id, larder_str *out);

    /* Removes a project with everything in it, for good. Returns LARDER_NOT_FOUND (no such project, or it was removed
     * already), LARDER_DENIED (a preview) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_str id);
} larder_projects;

LARDER_END

#endif
