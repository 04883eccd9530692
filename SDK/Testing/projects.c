/* larder.projects/1: steps and user data in memory, assets in a temporary folder. Writes are made at once. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

static larder_bytes lend_bytes(larder_fake *fake, larder_bytes from) {
    larder_bytes made = {lend(fake, from.len), from.len};
    if (from.len) memcpy((void *)(uintptr_t)made.ptr, from.ptr, from.len);
    return made;
}

struct kept_project *find_project(const larder_fake *fake, larder_str id) {
    for (size_t i = 0; i < fake->projects.count; i++) {
        if (same(id, fake->projects.at[i]->id)) return fake->projects.at[i];
    }
    return NULL;
}

void free_step(struct kept_step *step) {
    free(step->id);
    free_bytes(&step->user_data);
    if (step->folder) remove_tree(step->folder);
    free(step->folder);
}

void free_project(struct kept_project *project) {
    for (size_t i = 0; i < project->steps.count; i++) free_step(&project->steps.at[i]);
    free_bytes(&project->user_data);
    if (project->folder) remove_tree(project->folder);
    free(project->folder);
    free(project->steps.at);
    free(project->step_ids);
    free(project->id);
    free(project);
}

void free_projects(larder_fake *fake) {
    for (size_t i = 0; i < fake->projects.count; i++) free_project(fake->projects.at[i]);
    if (fake->assets) remove_tree(fake->assets);
    free(fake->assets);
    free(fake->projects.at);
}

uint64_t projects_size(const larder_fake *fake) {
    uint64_t size = fake->assets ? tree_size(fake->assets) : 0;
    for (size_t i = 0; i < fake->projects.count; i++) {
        const struct kept_project *project = fake->projects.at[i];
        size += project->user_data.len;
        for (size_t k = 0; k < project->steps.count; k++) size += project->steps.at[k].user_data.len;
    }
    return size;
}

/* Returns a later moment each time, whatever the test's clock says. */
void touch_project(larder_fake *fake, struct kept_project *project) {
    project->modified = fake->now > project->modified ? fake->now : project->modified + 1;
}

/* The functions that read. */

static int is_later(const struct kept_project *one, const struct kept_project *other, uint32_t order) {
    int by_change = order & LARDER_PROJECTS_BY_MODIFICATION ? 1 : 0;
    int64_t a = by_change ? one->modified : one->created, b = by_change ? other->modified : other->created;
    if (a == b) return strcmp(one->id, other->id) > 0;
    return order & LARDER_PROJECTS_OLDEST_FIRST ? a > b : a < b;
}

larder_status projects_list(const larder_host *host, uint32_t order, larder_project_ids *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.list", IN_ANY);
    size_t count = fake->projects.count;
    const struct kept_project **sorted;
    larder_project_ids found;
    larder_str *ids;
    if (status != LARDER_OK) return status;
    if (order & ~(LARDER_PROJECTS_BY_MODIFICATION | LARDER_PROJECTS_OLDEST_FIRST))
        return refuse_unknown(fake, "projects.list");
    if (!is_sized(out, FIRST_PROJECT_IDS)) return refuse(fake, "projects.list", LARDER_INVALID_ARGUMENT);
    sorted = lend(fake, count * sizeof *sorted);
    ids = lend(fake, count * sizeof *ids);
    for (size_t i = 0; i < count; i++) {
        size_t place = i;
        for (; place > 0 && is_later(sorted[place - 1], fake->projects.at[i], order); place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = fake->projects.at[i];
    }
    for (size_t i = 0; i < count; i++) ids[i] = lend_text(fake, sorted[i]->id);
    found = (larder_project_ids){sizeof found, 0, count ? ids : NULL, count};
    fill(out, &found, sizeof found);
    return LARDER_OK;
}

larder_status projects_fetch(const larder_host *host, larder_str id, uint32_t parts, larder_project *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.fetch", IN_ANY);
    const struct kept_project *project;
    larder_project view = {0};
    larder_str *ids;
    if (status != LARDER_OK) return status;
    if (parts & ~(LARDER_PROJECT_STEPS | LARDER_PROJECT_USER_DATA)) return refuse_unknown(fake, "projects.fetch");
    if (!is_sized(out, FIRST_PROJECT) || !is_text(id))
        return refuse(fake, "projects.fetch", LARDER_INVALID_ARGUMENT);
    if (!(project = find_project(fake, id))) return LARDER_NOT_FOUND;
    view.created = project->created;
    view.modified = project->modified;
    view.cursor = project->cursor;
    view.step_count = project->steps.count;
    view.can_undo = project->cursor > 0;
    view.can_redo = project->cursor < project->steps.count;
    view.assets = lend_text(fake, project->folder);
    if (parts & LARDER_PROJECT_USER_DATA) view.user_data = lend_bytes(fake, project->user_data);
    if (parts & LARDER_PROJECT_STEPS && project->steps.count) {
        ids = lend(fake, project->steps.count * sizeof *ids);
        for (size_t i = 0; i < project->steps.count; i++) ids[i] = lend_text(fake, project->steps.at[i].id);
        view.step_ids = ids;
    }
    fill(out, &view, sizeof view);
    return LARDER_OK;
}

larder_status projects_fetch_step(const larder_host *host, larder_str id, larder_str step, larder_project_step *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.fetch_step", IN_ANY);
    const struct kept_project *project;
    larder_project_step view = {0};
    if (status != LARDER_OK) return status;
    if (!is_sized(out, FIRST_PROJECT_STEP) || !is_text(id) || !is_text(step))
        return refuse(fake, "projects.fetch_step", LARDER_INVALID_ARGUMENT);
    project = find_project(fake, id);
    for (size_t i = 0; project && i < project->steps.count; i++) {
        const struct kept_step *kept = &project->steps.at[i];
        if (!same(step, kept->id)) continue;
        view.user_data = lend_bytes(fake, kept->user_data);
        view.assets = lend_text(fake, kept->folder);
        fill(out, &view, sizeof view);
        return LARDER_OK;
    }
    return LARDER_NOT_FOUND;
}

larder_status projects_usage(const larder_host *host, larder_project_usage *out) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "projects.usage", IN_ANY);
    larder_project_usage usage = {sizeof usage, 0, 0, 0};
    if (status != LARDER_OK) return status;
    if (!is_sized(out, FIRST_PROJECT_USAGE)) return refuse(fake, "projects.usage", LARDER_INVALID_ARGUMENT);
    usage.bytes = projects_size(fake);
    usage.quota = fake->project_quota;
    fill(out, &usage, sizeof usage);
    return LARDER_OK;
}

/* The test's side. */

void larder_fake_quota(larder_fake *fake, uint64_t bytes) { fake->project_quota = bytes; }

size_t larder_fake_project_count(const larder_fake *fake) { return fake->projects.count; }

const char *larder_fake_project_id(const larder_fake *fake, size_t index) {
    return index < fake->projects.count ? fake->projects.at[index]->id : NULL;
}

const larder_project *larder_fake_project(const larder_fake *fake, const char *id) {
    struct kept_project *project = find_project(fake, larder_str_make(id, strlen(id)));
    if (!project) return NULL;
    project->step_ids = resized(project->step_ids, project->steps.count * sizeof *project->step_ids);
    for (size_t i = 0; i < project->steps.count; i++)
        project->step_ids[i] = larder_str_make(project->steps.at[i].id, strlen(project->steps.at[i].id));
    project->view = (larder_project){
        sizeof project->view, project->cursor > 0, project->cursor < project->steps.count, 0, project->created,
        project->modified, project->cursor, project->steps.count, project->steps.count ? project->step_ids : NULL,
        project->user_data, larder_str_make(project->folder, strlen(project->folder))};
    return &project->view;
}

const larder_project_step *larder_fake_project_step(const larder_fake *fake, const char *id, size_t index) {
    struct kept_project *project = find_project(fake, larder_str_make(id, strlen(id)));
    struct kept_step *step;
    if (!project || index >= project->steps.count) return NULL;
    step = &project->steps.at[index];
    project->step_view = (larder_project_step){sizeof project->step_view, 0, step->user_data,
                                               larder_str_make(step->folder, strlen(step->folder))};
    return &project->step_view;
}

int larder_fake_set_cursor(larder_fake *fake, const char *id, uint64_t cursor) {
    struct kept_project *project = find_project(fake, larder_str_make(id, strlen(id)));
    if (!project || cursor > project->steps.count) return 0;
    project->cursor = cursor;
    touch_project(fake, project);
    return 1;
}
