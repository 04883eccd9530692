/* A library that tells ThreadSanitizer about the locking of Swift's Mutex. A thread that has to wait for such a lock
 * gets the lock from its former owner inside the standard library. The standard library is built without the sanitizer,
 * so the sanitizer takes the accesses that the lock orders for a race. LD_PRELOAD puts this library before the standard
 * library, and its functions report both threads' steps. It is built with clang, which supports Swift's calling
 * convention. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

/* _MutexHandle._lockSlow(_:), _tryLockSlow() and _unlockSlow() */
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock(SELF) __asm__(TRY_LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);

typedef SWIFT void lock_function(uint32_t thread, SELF);
typedef SWIFT bool try_lock_function(SELF);
typedef SWIFT void unlock_function(SELF);

/* Calls a function of the sanitizer. Does nothing in programs that are built without the sanitizer. */
static void tell(const char *name, void *lock) {
    void (*function)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, name);
    if (function) function(lock);
}

SWIFT void lock(uint32_t thread, SELF) {
    static lock_function *next;
    if (!next) next = (lock_function *)dlsym(RTLD_NEXT, LOCK);
    next(thread, self);
    tell("__tsan_acquire", self);
}

SWIFT bool try_lock(SELF) {
    static try_lock_function *next;
    bool has_it;
    if (!next) next = (try_lock_function *)dlsym(RTLD_NEXT, TRY_LOCK);
    has_it = next(self);
    if (has_it) tell("__tsan_acquire", self);
    return has_it;
}

SWIFT void unlock(SELF) {
    static unlock_function *next;
    if (!next) next = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
    tell("__tsan_release", self);
    next(self);
}
