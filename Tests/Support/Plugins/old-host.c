/* A library that opens another one and stands between it and the host: the host of ABI 1.0, whose table of actions ends
 * with `look`. OPENED is the path of the other library. */
#include <larder/larder.h>

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static larder_module module;
static const larder_module *opened;
static larder_host host;
static const larder_host *real;
static larder_actions actions;

static const void *extension(const larder_host *asked, larder_str name) {
    const void *found = real->extension(real, name);
    (void)asked;
    if (!found || name.len != strlen(LARDER_EXT_ACTIONS) || memcmp(name.ptr, LARDER_EXT_ACTIONS, name.len)) return found;
    memset(&actions, 0, sizeof actions);
    memcpy(&actions, found, offsetof(larder_actions, create_folder));
    actions.struct_size = offsetof(larder_actions, create_folder);
    return &actions;
}

static larder_status create(larder_str id, const larder_host *given, const larder_instance **out) {
    real = given;
    host = *given;
    host.abi_minor = 0;
    host.extension = extension;
    return opened->create(id, &host, out);
}

LARDER_EXPORT larder_status larder_plugin_entry_v1(uint32_t minor, const larder_module **out) {
    void *library = dlopen(OPENED, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, LARDER_ENTRY) : NULL;
    larder_plugin_entry entry;
    larder_status status;
    (void)minor;
    if (!symbol) return LARDER_IO;
    memcpy(&entry, &symbol, sizeof entry);
    status = entry(0, &opened);
    if (status != LARDER_OK) return status;
    module = *opened;
    module.create = create;
    *out = &module;
    return LARDER_OK;
}
