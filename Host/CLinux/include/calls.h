/* Which call a thread is in, in memory that outlives the process, and what signal handlers and exit(3) do about it, where no Swift
 * may run. The only place in this module with logic. */
#ifndef CLINUX_CALLS_H
#define CLINUX_CALLS_H

#include <stdint.h>

/* What became of a call. */
enum { LINUX_CALL_NONE = 0, LINUX_CALL_UNDER_WAY = 1, LINUX_CALL_HANGS = 2, LINUX_CALL_EXITED = 3, LINUX_CALL_CRASHED = 4 };

/* What a call is about. */
enum { LINUX_CALL_ABOUT_NOTHING = 0, LINUX_CALL_ABOUT_ITEM = 1, LINUX_CALL_ABOUT_LOOP = 2 };

/* Where texts begin, counted from the struct, and how long all of it is. They have no closing zero. */
enum {
    LINUX_CALL_NAME_AT = 64, LINUX_CALL_PLUGIN_AT = 128, LINUX_CALL_LOOKS_AT = 256, LINUX_CALL_LIBRARY_AT = 512,
    LINUX_CALL_SUBJECT_AT = 4608, LINUX_CALL_SIZE = 8192
};

/* A thread's call. Its own thread writes it with plain stores; the state is written by others too. */
typedef struct linux_call {
    uint32_t state;
    int32_t signal;
    /* When it ended the process or was found to hang, in nanoseconds since 1970. */
    int64_t time;
    uint32_t about;
    uint32_t subject_length;
    uint32_t name_length;
    uint32_t plugin_length;
    uint32_t looks_length;
    uint32_t library_length;
} linux_call;

/* Begins and ends a call, after its texts were written. */
static inline void linux_call_begin(linux_call *call) { __atomic_store_n(&call->state, LINUX_CALL_UNDER_WAY, __ATOMIC_RELEASE); }
static inline void linux_call_end(linux_call *call) { __atomic_store_n(&call->state, LINUX_CALL_NONE, __ATOMIC_RELEASE); }

static inline uint32_t linux_call_state(const linux_call *call) { return __atomic_load_n(&call->state, __ATOMIC_ACQUIRE); }

/* From any thread: the call that is under way hangs. Returns 0 if none is under way. */
int linux_call_hangs(linux_call *call, int64_t time);

/* A signal's name, such as SIGSEGV. */
const char *linux_signal_name(int signal);

/* The calls of this thread are written there; NULL: nowhere. */
void linux_calls_are_in(linux_call *call);

/* Lets this thread take fatal signals, also when its stack is full. Returns what is to be given back at the thread's end. */
void *linux_take_fatal_signals(void);
void linux_give_back_signal_stack(void *stack);

/* From now on a fatal signal in a call is written down, said on standard error, and has the effect that it had before; an exit(3) or
 * quick_exit(3) in a call is written down, said, and ends the process with `code`. Once for a process, after the plugins' libraries
 * were opened: what these install for themselves then comes after it. */
void linux_watch_calls(int code);

#endif
