#define _GNU_SOURCE
#include "children.h"

#include <fcntl.h>
#include <unistd.h>

int linux_pipe_cloexec(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int linux_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int linux_spawn_change_folder(posix_spawn_file_actions_t *actions, const char *folder) {
    return posix_spawn_file_actions_addchdir_np(actions, folder);
}

int linux_set_thread_name(pthread_t thread, const char *name) { return pthread_setname_np(thread, name); }
