/* What Swift's Glibc module hides: system calls that are variadic, that glibc has no function for, or that stand behind
 * _GNU_SOURCE. One function each, without logic; what they return is the system call's result, with errno. */
#ifndef CLINUX_FILES_H
#define CLINUX_FILES_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS and RESOLVE_NO_XDEV: what it opens lies below the
 * folder, on the same file system, and no symbolic link was followed on the way. O_CLOEXEC is added. */
int linux_open_beneath(int folder, const char *path, int flags, mode_t mode);

/* renameat2(2) with RENAME_NOREPLACE: EEXIST if something is there. */
int linux_rename_noreplace(int from_folder, const char *from, int to_folder, const char *to);

/* renameat2(2) with RENAME_EXCHANGE: both change places in one step. */
int linux_rename_exchange(int a_folder, const char *a, int b_folder, const char *b);

/* syncfs(2): all data and metadata of the file system that the descriptor is on. */
int linux_syncfs(int descriptor);

/* fstatfs(2): the `f_type` of the file system that the descriptor is on; -1 with `errno`. */
int64_t linux_file_system_type(int descriptor);

/* sync_file_range(2) SYNC_FILE_RANGE_WRITE: the disk begins to write these bytes of the file, and nobody waits for it. */
int linux_begin_writing(int descriptor, off_t from, off_t count);

/* ioctl(2) FICLONE: `to` gets the content of `from` and shares its blocks. */
int linux_clone_file(int from, int to);

/* statx(2) STATX_BTIME: when what is at the path was made, a symbolic link not followed; ENODATA if the file system does not
 * keep it. */
int linux_birth_time(const char *path, struct timespec *time);

/* fcntl(2) F_SETLEASE; type is F_RDLCK, F_WRLCK or F_UNLCK. */
int linux_set_lease(int descriptor, int type);

/* fcntl(2) F_GETLEASE; while a lease is being broken, what it is to become. */
int linux_get_lease(int descriptor);

/* fcntl(2) F_OFD_SETLK over the whole file: a write lock of the open file, not of the process. */
int linux_lock_open_file(int descriptor);

/* fcntl(2) F_OFD_SETLK: takes that lock away, for all who have the open file. */
int linux_unlock_open_file(int descriptor);

/* O_NOATIME and O_PATH of open(2), UTIME_OMIT of utimensat(2). */
extern const int linux_o_noatime;
extern const int linux_o_path;
extern const long linux_utime_omit;

#endif
