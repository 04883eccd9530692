/* Functions of glibc that starting a child process and naming a thread need, and that Swift's Glibc module hides. */
#ifndef CLINUX_CHILDREN_H
#define CLINUX_CHILDREN_H

#include <pthread.h>
#include <spawn.h>

/* Calls pipe2(2) with O_CLOEXEC. Returns 0, or -1 with errno. */
int linux_pipe_cloexec(int ends[2]);

/* Calls posix_spawn_file_actions_addclosefrom_np(3): the child has no descriptor from `first` on. Returns an errno
 * value. */
int linux_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

/* Calls posix_spawn_file_actions_addchdir_np(3). Returns an errno value. */
int linux_spawn_change_folder(posix_spawn_file_actions_t *actions, const char *folder);

/* Calls pthread_setname_np(3). A name has at most 15 bytes. Returns an errno value. */
int linux_set_thread_name(pthread_t thread, const char *name);

#endif
