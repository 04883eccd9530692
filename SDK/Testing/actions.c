/* larder.actions/1: what the plugin asks for is recorded, and nothing is carried out. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

static struct copied_item *find_item(larder_fake *fake, larder_str local_id) {
    for (size_t i = 0; i < fake->items.count; i++) {
        larder_str id = fake->items.at[i].item->local_id;
        if (id.len == local_id.len && memcmp(id.ptr, local_id.ptr, id.len) == 0) return &fake->items.at[i];
    }
    return NULL;
}

/* Tells whether a text names a file below a folder: it has no empty name, and none that leads elsewhere. */
static int is_below(larder_str file) {
    char *path = resized(NULL, file.len + 2);
    int is_valid;
    path[0] = '/';
    memcpy(path + 1, file.ptr, file.len);
    is_valid = file.len && is_path(larder_str_make(path, file.len + 1));
    free(path);
    return is_valid;
}

static int is_granted(const larder_fake *fake, const char *name) {
    for (size_t i = 0; i < fake->grants.count; i++) {
        if (strcmp(fake->grants.at[i], name) == 0) return 1;
    }
    return 0;
}

/* Notes a request for an action. `item` is null if it is about no item. */
static larder_fake_entry *note(larder_fake *fake, const char *function, const struct copied_item *item, uint32_t number,
                               larder_str key) {
    larder_fake_entry *entry = record(fake, LARDER_FAKE_ACTION, strchr(function, '.') + 1);
    fake->asked++;
    entry->number = number;
    entry->text = text_of(key);
    if (!item) return entry;
    entry->id = text_of(item->item->local_id);
    entry->path = text_of(item->item->path);
    return entry;
}

static larder_status check_key(larder_fake *fake, const char *function, larder_str key) {
    if (!key.len || !is_text(key)) return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    return key.len > 1024 ? refuse(fake, function, LARDER_LIMIT) : LARDER_OK;
}

static larder_status check_room(larder_fake *fake, const char *function) {
    int is_full =
        fake->processor->max_records && fake->granted_actions + fake->asked >= fake->processor->max_records;
    return is_full ? refuse(fake, function, LARDER_LIMIT) : LARDER_OK;
}

static larder_status ask(const larder_host *host, const char *function, larder_str local_id, uint32_t flags,
                         uint32_t known_flags, larder_str key) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, function, IN_PROCESSOR_WRITING);
    struct copied_item *item;
    if (status != LARDER_OK) return status;
    if (flags & ~known_flags) return refuse_unknown(fake, function);
    if (!is_text(local_id)) return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    if (key.ptr && (status = check_key(fake, function, key)) != LARDER_OK) return status;
    if (!(item = find_item(fake, local_id))) return LARDER_NOT_FOUND;
    if ((status = check_room(fake, function)) != LARDER_OK) return status;
    note(fake, function, item, flags, key);
    return LARDER_OK;
}

static larder_status actions_download(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key) {
    return ask(host, "actions.download", local_id, flags,
               LARDER_DOWNLOAD_WHILE_COVERED | LARDER_DOWNLOAD_AS_UPDATE, key);
}

static larder_status actions_remove(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key) {
    return ask(host, "actions.remove_local_copy", local_id, flags,
               LARDER_REMOVE_RESTORE_FORMER | LARDER_REMOVE_IF_UNUSED, key);
}

static larder_status actions_purge(const larder_host *host, larder_str local_id, uint32_t flags, larder_str key) {
    return ask(host, "actions.purge", local_id, flags, 0, key);
}

static larder_status actions_look(const larder_host *host, larder_str path) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter(fake, "actions.look", IN_LOOP_WRITING);
    if (status != LARDER_OK) return status;
    if (!is_path(path)) return refuse(fake, "actions.look", LARDER_INVALID_ARGUMENT);
    record(fake, LARDER_FAKE_ACTION, "look")->path = text_of(path);
    return LARDER_OK;
}

/* Changes of the server. */

/* Checks what all changes have in common. */
static larder_status enter_change(larder_fake *fake, const char *function, uint32_t flags, uint32_t known_flags,
                                  larder_str key) {
    larder_status status = enter(fake, function, IN_PROCESSOR_WRITING);
    if (status != LARDER_OK) return status;
    if (!is_granted(fake, "server-changes")) return LARDER_DENIED;
    if (flags & ~known_flags) return refuse_unknown(fake, function);
    return check_key(fake, function, key);
}

/* Asks for the change of an item. `target` is absent if nothing is made. */
static larder_status change(const larder_host *host, const char *function, larder_str local_id,
                            const larder_str *target, uint32_t number, uint32_t flags, larder_str key) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter_change(fake, function, flags, 0, key);
    struct copied_item *item;
    larder_fake_entry *entry;
    if (status != LARDER_OK) return status;
    if (!is_text(local_id) || number > 1) return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    if (!(item = find_item(fake, local_id))) return LARDER_NOT_FOUND;
    if (target && !is_path(*target)) return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    if ((status = check_room(fake, function)) != LARDER_OK) return status;
    entry = note(fake, function, item, number, key);
    if (target) entry->target = text_of(*target);
    return LARDER_OK;
}

static larder_status actions_create_folder(const larder_host *host, larder_str path, uint32_t flags, larder_str key) {
    larder_fake *fake = fake_of(host);
    larder_status status = enter_change(fake, "actions.create_folder", flags, 0, key);
    if (status != LARDER_OK) return status;
    if (!is_path(path)) return refuse(fake, "actions.create_folder", LARDER_INVALID_ARGUMENT);
    if ((status = check_room(fake, "actions.create_folder")) != LARDER_OK) return status;
    note(fake, "actions.create_folder", NULL, flags, key)->target = text_of(path);
    return LARDER_OK;
}

static larder_status actions_move(const larder_host *host, larder_str local_id, larder_str target, uint32_t flags,
                                  larder_str key) {
    return change(host, "actions.move", local_id, &target, 0, flags, key);
}

static larder_status actions_copy(const larder_host *host, larder_str local_id, larder_str target, uint32_t flags,
                                  larder_str key) {
    return change(host, "actions.copy", local_id, &target, 0, flags, key);
}

static larder_status actions_remove_from_server(const larder_host *host, larder_str local_id, uint32_t flags,
                                                larder_str key) {
    return change(host, "actions.remove_from_server", local_id, NULL, 0, flags, key);
}

static larder_status actions_set_favorite(const larder_host *host, larder_str local_id, uint32_t is_favorite,
                                          uint32_t flags, larder_str key) {
    return change(host, "actions.set_favorite", local_id, NULL, is_favorite, flags, key);
}

static larder_status actions_upload(const larder_host *host, larder_str project, larder_str file, larder_str path,
                                    uint32_t flags, larder_str key) {
    static const char function[] = "actions.upload";
    larder_fake *fake = fake_of(host);
    larder_status status = enter_change(fake, function, flags, LARDER_UPLOAD_REPLACE, key);
    const struct kept_project *found;
    larder_fake_entry *entry;
    if (status != LARDER_OK) return status;
    if (!is_text(project) || !is_text(file) || !is_below(file) || !is_path(path))
        return refuse(fake, function, LARDER_INVALID_ARGUMENT);
    if (!(found = find_project(fake, project)) || !found->folder) return LARDER_NOT_FOUND;
    status = check_file(found->folder, file);
    if (status == LARDER_INVALID_ARGUMENT) return refuse(fake, function, status);
    if (status != LARDER_OK || (status = check_room(fake, function)) != LARDER_OK) return status;
    entry = note(fake, function, NULL, flags, key);
    entry->id = text_of(project);
    entry->path = text_of(file);
    entry->target = text_of(path);
    return LARDER_OK;
}

const larder_actions actions_table = {
    sizeof actions_table, 0,          actions_download, actions_remove, actions_purge, actions_look,
    actions_create_folder, actions_move, actions_copy, actions_remove_from_server, actions_set_favorite,
    actions_upload};
