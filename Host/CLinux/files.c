#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

const int linux_o_noatime = O_NOATIME;
const int linux_o_path = O_PATH;
const long linux_utime_omit = UTIME_OMIT;

int linux_open_beneath(int folder, const char *path, int flags, mode_t mode) {
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int linux_rename_noreplace(int from_folder, const char *from, int to_folder, const char *to) {
    return renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE);
}

int linux_rename_exchange(int a_folder, const char *a, int b_folder, const char *b) {
    return renameat2(a_folder, a, b_folder, b, RENAME_EXCHANGE);
}

int linux_syncfs(int descriptor) { return syncfs(descriptor); }

int64_t linux_file_system_type(int descriptor) {
    struct statfs system;
    return fstatfs(descriptor, &system) == 0 ? system.f_type : -1;
}

int linux_begin_writing(int descriptor, off_t from, off_t count) {
    return sync_file_range(descriptor, from, count, SYNC_FILE_RANGE_WRITE);
}

int linux_clone_file(int from, int to) { return ioctl(to, FICLONE, from); }

int linux_birth_time(const char *path, struct timespec *time) {
    struct statx info;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &info) != 0) return -1;
    if (!(info.stx_mask & STATX_BTIME)) {
        errno = ENODATA;
        return -1;
    }
    *time = (struct timespec){.tv_sec = info.stx_btime.tv_sec, .tv_nsec = info.stx_btime.tv_nsec};
    return 0;
}

int linux_set_attribute(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

ssize_t linux_get_attribute(int descriptor, const char *name, void *value, size_t size) {
    return fgetxattr(descriptor, name, value, size);
}

int linux_remove_attribute(int descriptor, const char *name) { return fremovexattr(descriptor, name); }

int linux_set_lease(int descriptor, int type) { return fcntl(descriptor, F_SETLEASE, type); }

int linux_get_lease(int descriptor) { return fcntl(descriptor, F_GETLEASE); }

int linux_lock_open_file(int descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int linux_unlock_open_file(int descriptor) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}
