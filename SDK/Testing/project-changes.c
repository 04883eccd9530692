/* larder.projects/1: the functions that change something. A change is made at once, all of it or nothing. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST_USER_DATA (16u << 20)
#define MOST_STEPS 10000u

static char *new_id(larder_fake *fake) {
    char *id = copied("00000000-0000-4000-8000-000000000000");
    unsigned number = ++fake->made_ids;
    for (size_t digit = strlen(id) - 1; number; digit--, number /= 10) id[digit] = (char)('0' + number % 10);
    return id;
}

/* Tells whether the quota allows a number of bytes more and a number of bytes less. */
static int has_room(const larder_fake *fake, uint64_t more, uint64_t less) {
    uint64_t used = projects_size(fake);
    return more <= less || used + (more - less) <= fake->project_quota;
}

/* Adds a project to the list, and returns it, or null if its folder cannot be made. */
static struct kept_project *make_project(larder_fake *fake) {
    struct kept_project *project = resized(NULL, sizeof *project);
    memset(project, 0, sizeof *project);
    project->id = new_id(fake);
    project->folder = make_assets(fake, project->id);
    if (!project->folder) {
        free_project(project);
        return NULL;
    }
    project->created = project->modified = fake->now;
    project->user_data = copy_bytes(project->user_data); /* empty, not absent */
    APPEND(fake->projects, project);
    return project;
}

static void note(larder_fake *fake, const char *function, const struct kept_project *project, larder_bytes user_data) {
    larder_fake_entry *entry = record(fake, LARDER_FAKE_PROJECT, strchr(function, '.') + 1);
    entry->id = copied(project->id);
    if (user_data.ptr) entry->text = text_of(larder_str_make((const char *)user_data.ptr, user_data.len));
}

static larder_status projects_create(const larder_host *host, larder_str *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.create", IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    larder_bytes none = {NULL, 0};
    struct kept_project *project;
    if (status != LARDER_OK) return status;
    if (!has_room(fake, 1, 0)) return LARDER_LIMIT;
    if (!(project = make_project(fake))) return LARDER_IO;
    note(fake, "projects.create", project, none);
    *out = lend_text(fake, project->id);
    return LARDER_OK;
}

static larder_status check_step(const larder_project_new_step *step) {
    char *source;
    int is_usable;
    if (step->user_data.len && !step->user_data.ptr) return LARDER_INVALID_ARGUMENT;
    if (step->user_data.len > LARGEST_USER_DATA) return LARDER_LIMIT;
    if (!step->assets_source.ptr) return LARDER_OK;
    source = text_of(step->assets_source);
    is_usable = source[0] == '/' && strlen(source) == step->assets_source.len && is_utf8(step->assets_source)
        && is_folder(source);
    free(source);
    return is_usable ? LARDER_OK : LARDER_INVALID_ARGUMENT;
}

static uint64_t growth(const larder_project_new_step *step) {
    char *source = step->assets_source.ptr ? text_of(step->assets_source) : NULL;
    uint64_t size = step->user_data.len + (source ? tree_size(source) : 0);
    free(source);
    return size;
}

/* Copies the step's assets from their source, and returns their folder, or null if that failed. */
static char *copy_assets(larder_fake *fake, const char *id, larder_str from) {
    char *folder = make_assets(fake, id), *source = from.ptr ? text_of(from) : NULL;
    if (folder && source && copy_tree(source, folder) != 0) {
        remove_tree(folder);
        free(folder);
        folder = NULL;
    }
    free(source);
    return folder;
}

/* Makes an update, all of it or nothing. `unwanted` tells which steps are deleted. */
static larder_status change(larder_fake *fake, struct kept_project *project, const larder_project_new_step *steps,
                            size_t count, const unsigned char *unwanted, int64_t cursor, larder_bytes user_data,
                            larder_str *added) {
    size_t old = project->steps.count, kept = 0, made = 0;
    uint64_t more = user_data.ptr ? user_data.len : 0, less = user_data.ptr ? project->user_data.len : 0;
    struct kept_step *fresh, *all;
    for (size_t i = 0; i < count; i++) more += growth(&steps[i]);
    for (size_t i = 0; i < old; i++) {
        kept += !unwanted[i];
        if (unwanted[i]) less += project->steps.at[i].user_data.len + tree_size(project->steps.at[i].folder);
    }
    if (cursor == LARDER_PROJECT_CURSOR_STAYS) cursor = (int64_t)project->cursor;
    if (cursor < 0 || (uint64_t)cursor > kept + count) return LARDER_INVALID_ARGUMENT;
    if (!has_room(fake, more, less)) return LARDER_LIMIT;
    fresh = resized(NULL, count * sizeof *fresh);
    for (; made < count; made++) {
        fresh[made].id = new_id(fake);
        fresh[made].user_data = copy_bytes(steps[made].user_data);
        fresh[made].folder = copy_assets(fake, fresh[made].id, steps[made].assets_source);
        if (fresh[made].folder) continue;
        for (size_t i = 0; i <= made; i++) free_step(&fresh[i]);
        free(fresh);
        return LARDER_IO;
    }
    all = resized(NULL, (kept + count) * sizeof *all);
    kept = 0;
    for (size_t i = 0; i <= old; i++) {
        for (size_t k = 0; i == project->cursor && k < count; k++) all[kept++] = fresh[k];
        if (i < old && unwanted[i]) free_step(&project->steps.at[i]);
        else if (i < old) all[kept++] = project->steps.at[i];
    }
    free(project->steps.at);
    project->steps.at = all;
    project->steps.count = project->steps.room = kept;
    project->cursor = (uint64_t)cursor;
    if (user_data.ptr) {
        larder_bytes copy = copy_bytes(user_data);
        free_bytes(&project->user_data);
        project->user_data = copy;
    }
    touch_project(fake, project);
    for (size_t i = 0; added && i < count; i++) added[i] = lend_text(fake, fresh[i].id);
    free(fresh);
    return LARDER_OK;
}

static larder_status checked(larder_fake *fake, const char *function, larder_status status) {
    return status == LARDER_INVALID_ARGUMENT ? refuse(fake, function, status) : status;
}

static larder_status projects_update(const larder_host *host, larder_str id, const larder_project_update *given,
                                     larder_project_ids *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.update", IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    struct kept_project *project;
    larder_project_update update;
    larder_project_new_step *steps;
    unsigned char *unwanted;
    larder_project_ids ids;
    larder_str *added;
    if (status != LARDER_OK) return status;
    if (!take(&update, sizeof update, given, FIRST_PROJECT_UPDATE) || !is_sized(out, FIRST_PROJECT_IDS) || !is_text(id)
        || (update.delete_count && !update.delete_ids) || (update.add_count && !update.add)
        || (update.add_count && update.add_stride < FIRST_PROJECT_NEW_STEP)
        || (update.user_data.len && !update.user_data.ptr))
        return refuse(fake, "projects.update", LARDER_INVALID_ARGUMENT);
    if (update.delete_count > MOST_STEPS || update.add_count > MOST_STEPS || update.user_data.len > LARGEST_USER_DATA)
        return refuse(fake, "projects.update", LARDER_LIMIT);
    steps = lend(fake, update.add_count * sizeof *steps);
    for (size_t i = 0; i < update.add_count; i++) {
        const char *from = (const char *)update.add + i * update.add_stride;
        status = take(&steps[i], sizeof *steps, from, FIRST_PROJECT_NEW_STEP)
            ? check_step(&steps[i]) : LARDER_INVALID_ARGUMENT;
        if (status != LARDER_OK) return refuse(fake, "projects.update", status);
    }
    if (!(project = find_project(fake, id))) return LARDER_NOT_FOUND;
    if (update.if_modified && update.if_modified != project->modified) return LARDER_CONFLICT;
    unwanted = lend(fake, project->steps.count);
    for (size_t i = 0; i < project->steps.count; i++) {
        unwanted[i] = 0;
        for (size_t k = 0; k < update.delete_count; k++)
            unwanted[i] |= (unsigned char)same(update.delete_ids[k], project->steps.at[i].id);
    }
    added = lend(fake, update.add_count * sizeof *added);
    status = change(fake, project, steps, update.add_count, unwanted, update.cursor, update.user_data, added);
    if (status != LARDER_OK) return checked(fake, "projects.update", status);
    note(fake, "projects.update", project, update.user_data);
    ids = (larder_project_ids){sizeof ids, 0, update.add_count ? added : NULL, update.add_count};
    fill(out, &ids, sizeof ids);
    return LARDER_OK;
}

static larder_status projects_add_step(const larder_host *host, larder_str id, const larder_project_new_step *given,
                                       larder_bytes user_data, larder_str *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.add_step", IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    struct kept_project *project;
    larder_project_new_step step;
    unsigned char *unwanted;
    if (status != LARDER_OK) return status;
    status = !take(&step, sizeof step, given, FIRST_PROJECT_NEW_STEP) || !is_text(id)
            || (user_data.len && !user_data.ptr)
        ? LARDER_INVALID_ARGUMENT
        : user_data.len > LARGEST_USER_DATA ? LARDER_LIMIT : check_step(&step);
    if (status != LARDER_OK) return refuse(fake, "projects.add_step", status);
    if (!(project = find_project(fake, id))) return LARDER_NOT_FOUND;
    unwanted = lend(fake, project->steps.count);
    for (size_t i = 0; i < project->steps.count; i++) unwanted[i] = i >= project->cursor;
    status = change(fake, project, &step, 1, unwanted, (int64_t)project->cursor + 1, user_data, out);
    if (status == LARDER_OK) note(fake, "projects.add_step", project, user_data);
    return checked(fake, "projects.add_step", status);
}

static larder_status go(const larder_host *host, const char *function, larder_str id, int by) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, function, IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    larder_bytes none = {NULL, 0};
    struct kept_project *project;
    if (status != LARDER_OK) return status;
    if (!is_text(id)) return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    project = find_project(fake, id);
    if (!project || (by < 0 ? project->cursor == 0 : project->cursor == project->steps.count)) return LARDER_NOT_FOUND;
    project->cursor += (uint64_t)(int64_t)by;
    touch_project(fake, project);
    note(fake, function, project, none);
    return LARDER_OK;
}

static larder_status projects_undo(const larder_host *host, larder_str id) { return go(host, "projects.undo", id, -1); }
static larder_status projects_redo(const larder_host *host, larder_str id) { return go(host, "projects.redo", id, 1); }

static larder_status projects_duplicate(const larder_host *host, larder_str id, larder_str *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.duplicate", IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    larder_bytes none = {NULL, 0};
    struct kept_project *original, *copy;
    uint64_t size;
    int failed;
    if (status != LARDER_OK) return status;
    if (!is_text(id)) return refuse(fake, "projects.duplicate", LARDER_INVALID_ARGUMENT);
    if (!(original = find_project(fake, id))) return LARDER_NOT_FOUND;
    size = original->user_data.len + tree_size(original->folder);
    for (size_t i = 0; i < original->steps.count; i++)
        size += original->steps.at[i].user_data.len + tree_size(original->steps.at[i].folder);
    if (!has_room(fake, size, 0)) return LARDER_LIMIT;
    if (!(copy = make_project(fake))) return LARDER_IO;
    failed = copy_tree(original->folder, copy->folder);
    free_bytes(&copy->user_data);
    copy->user_data = copy_bytes(original->user_data);
    copy->cursor = original->cursor;
    for (size_t i = 0; i < original->steps.count && !failed; i++) {
        char *own = new_id(fake); /* only the name of the folder */
        struct kept_step step = {copied(original->steps.at[i].id), copy_bytes(original->steps.at[i].user_data),
                                 make_assets(fake, own)};
        free(own);
        failed = !step.folder || copy_tree(original->steps.at[i].folder, step.folder);
        APPEND(copy->steps, step);
    }
    if (failed) {
        fake->projects.count--; /* the copy is the last project */
        free_project(copy);
        return LARDER_IO;
    }
    note(fake, "projects.duplicate", copy, none);
    *out = lend_text(fake, copy->id);
    return LARDER_OK;
}

static larder_status projects_remove(const larder_host *host, larder_str id) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.remove", IN_PROCESSOR_WRITING | IN_LOOP_WRITING);
    larder_bytes none = {NULL, 0};
    if (status != LARDER_OK) return status;
    if (!is_text(id)) return refuse(fake, "projects.remove", LARDER_INVALID_ARGUMENT);
    for (size_t i = 0; i < fake->projects.count; i++) {
        struct kept_project *project = fake->projects.at[i];
        if (!same(id, project->id)) continue;
        note(fake, "projects.remove", project, none);
        fake->projects.count--;
        memmove(&fake->projects.at[i], &fake->projects.at[i + 1], (fake->projects.count - i) * sizeof project);
        free_project(project);
        return LARDER_OK;
    }
    return LARDER_NOT_FOUND;
}

const larder_projects projects_table = {
    sizeof projects_table, 0, projects_list, projects_fetch, projects_fetch_step, projects_usage, projects_create,
    projects_update, projects_add_step, projects_undo, projects_redo, projects_duplicate, projects_remove};

