/* Starting a child process of a test. */
#ifndef CSPAWN_SPAWNING_H
#define CSPAWN_SPAWNING_H

/* Starts a program in a process group of its own, with standard signal actions and none blocked, and without input.
 * Unlike with fork(2) and posix_spawn(3), the child never has a copy of the caller's descriptors: a file that the caller
 * closes meanwhile is closed, and a lease on it can be had.
 *   program: a path, or a name that is searched for in PATH.
 *   arguments: with the program's name, ended by a null pointer.
 *   environment: ended by a null pointer.
 *   output, errors: files that are made if they are missing, and appended to.
 * Returns an errno value. The child that could not become the program is reaped by then. */
int spawn_program(const char *program, char *const *arguments, char *const *environment, const char *output,
                  const char *errors, int *pid);

#endif
