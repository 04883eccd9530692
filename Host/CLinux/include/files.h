/* System calls that Swift's Glibc module hides: variadic calls, calls without a function in glibc, and calls that need
 * _GNU_SOURCE. Each function makes one call, has no logic, and returns the result of the system call, with errno. */
#ifndef CLINUX_FILES_H
#define CLINUX_FILES_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Calls openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS and RESOLVE_NO_XDEV. The opened
 * file lies below the folder and on the folder's file system, and the kernel followed no symbolic link on the way.
 * O_CLOEXEC is added. */
int linux_open_beneath(int folder, const char *path, int flags, mode_t mode);

/* Calls renameat2(2) with RENAME_NOREPLACE. The error is EEXIST if the new name exists. */
int linux_rename_noreplace(int from_folder, const char *from, int to_folder, const char *to);

/* Calls renameat2(2) with RENAME_EXCHANGE: both files change places in one step. */
int linux_rename_exchange(int a_folder, const char *a, int b_folder, const char *b);

/* Calls syncfs(2): writes all data and metadata of the file system that the descriptor is on. */
int linux_syncfs(int descriptor);

/* Calls fstatfs(2). Returns the `f_type` of the file system that the descriptor is on, or -1 with `errno`. */
int64_t linux_file_system_type(int descriptor);

/* Calls sync_file_range(2) with SYNC_FILE_RANGE_WRITE: starts writing these bytes of the file to the disk and does not
 * wait for the end. */
int linux_begin_writing(int descriptor, off_t from, off_t count);

/* Calls ioctl(2) FICLONE: `to` gets the content of `from` and shares its blocks. */
int linux_clone_file(int from, int to);

/* Calls statx(2) for STATX_BTIME: gives the time at which the file at the path was made. A symbolic link is not
 * followed. The error is ENODATA if the file system does not keep this time. */
int linux_birth_time(const char *path, struct timespec *time);

/* Calls fsetxattr(2), fgetxattr(2) and fremovexattr(2). */
int linux_set_attribute(int descriptor, const char *name, const void *value, size_t size);
ssize_t linux_get_attribute(int descriptor, const char *name, void *value, size_t size);
int linux_remove_attribute(int descriptor, const char *name);

/* Calls fcntl(2) F_SETLEASE. The type is F_RDLCK, F_WRLCK or F_UNLCK. */
int linux_set_lease(int descriptor, int type);

/* Calls fcntl(2) F_GETLEASE. While a lease is being broken, the result is the type that the lease is to become. */
int linux_get_lease(int descriptor);

/* Calls fcntl(2) F_OFD_SETLK for a write lock on the whole file. The lock belongs to the open file, not to the
 * process. */
int linux_lock_open_file(int descriptor);

/* Calls fcntl(2) F_OFD_SETLK: removes the lock for every holder of the open file. */
int linux_unlock_open_file(int descriptor);

/* The flags O_NOATIME and O_PATH of open(2), and UTIME_OMIT of utimensat(2). */
extern const int linux_o_noatime;
extern const int linux_o_path;
extern const long linux_utime_omit;

#endif
