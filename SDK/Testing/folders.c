/* Folders of assets, in a temporary folder that is removed with the fake host. */
#define _GNU_SOURCE
#include "fake.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *below(const char *folder, const char *name) {
    size_t size = strlen(folder) + strlen(name) + 2;
    char *made = resized(NULL, size);
    snprintf(made, size, "%s/%s", folder, name);
    return made;
}

char *make_assets(larder_fake *fake, const char *name) {
    char *path;
    if (!fake->assets) {
        const char *parent = getenv("TMPDIR");
        char *folder = below(parent && *parent ? parent : "/tmp", "larder-fake-XXXXXX");
        if (!mkdtemp(folder)) {
            free(folder);
            return NULL;
        }
        fake->assets = folder;
    }
    path = below(fake->assets, name);
    if (mkdir(path, 0700) == 0) return path;
    free(path);
    return NULL;
}

int is_folder(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

larder_status check_file(const char *folder, larder_str file) {
    char *path = below(folder, "");
    size_t length = strlen(path);
    larder_status status = LARDER_OK;
    struct stat info;
    path = resized(path, length + file.len + 1);
    for (uint64_t i = 0; i <= file.len && status == LARDER_OK; i++) {
        if (i < file.len && file.ptr[i] != '/') continue;
        memcpy(path + length, file.ptr, i);
        path[length + i] = 0;
        if (lstat(path, &info) != 0) status = LARDER_NOT_FOUND;
        else if (S_ISLNK(info.st_mode)) status = LARDER_DENIED;
        else if (i == file.len && !S_ISREG(info.st_mode)) status = LARDER_INVALID_ARGUMENT;
    }
    free(path);
    return status;
}

/* Calls the body for each name in a folder except "." and "..". Stops at the first result that is not 0, and returns
 * it. */
static int each(const char *folder, int (*body)(const char *path, const char *name, void *context), void *context) {
    DIR *open = opendir(folder);
    const struct dirent *entry;
    int result = open ? 0 : -1;
    while (result == 0 && (entry = readdir(open))) {
        char *path;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        path = below(folder, entry->d_name);
        result = body(path, entry->d_name, context);
        free(path);
    }
    if (open) closedir(open);
    return result;
}

static int remove_entry(const char *path, const char *name, void *context) {
    (void)name;
    (void)context;
    remove_tree(path);
    return 0;
}

void remove_tree(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0) return;
    if (!S_ISDIR(info.st_mode)) {
        unlink(path);
        return;
    }
    each(path, remove_entry, NULL);
    rmdir(path);
}

static int add_size(const char *path, const char *name, void *context) {
    struct stat info;
    (void)name;
    if (lstat(path, &info) != 0) return 0;
    if (S_ISREG(info.st_mode)) *(uint64_t *)context += (uint64_t)info.st_size;
    return S_ISDIR(info.st_mode) ? each(path, add_size, context) : 0;
}

uint64_t tree_size(const char *path) {
    uint64_t size = 0;
    each(path, add_size, &size);
    return size;
}

static int copy_file(const char *from, const char *to) {
    FILE *source = fopen(from, "rb"), *target = source ? fopen(to, "wb") : NULL;
    char block[4096];
    size_t count;
    int result = target ? 0 : -1;
    while (result == 0 && (count = fread(block, 1, sizeof block, source)) > 0) {
        if (fwrite(block, 1, count, target) != count) result = -1;
    }
    if (source && (ferror(source) || fclose(source) != 0)) result = -1;
    if (target && fclose(target) != 0) result = -1;
    return result;
}

static int copy_entry(const char *path, const char *name, void *context) {
    char *to = below(context, name), link[4096];
    struct stat info;
    ssize_t length;
    int result = -1;
    if (lstat(path, &info) != 0) result = -1;
    else if (S_ISDIR(info.st_mode)) result = mkdir(to, 0700) == 0 ? copy_tree(path, to) : -1;
    else if (S_ISREG(info.st_mode)) result = copy_file(path, to);
    else if (S_ISLNK(info.st_mode) && (length = readlink(path, link, sizeof link - 1)) >= 0) {
        link[length] = 0;
        result = symlink(link, to);
    }
    free(to);
    return result;
}

int copy_tree(const char *from, const char *to) { return each(from, copy_entry, (void *)(uintptr_t)to); }
