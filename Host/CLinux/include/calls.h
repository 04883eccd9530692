/* The record of the plugin call that a thread is in. The record lies in memory that outlives the process. Signal
 * handlers and an exit(3) handler, in which no Swift may run, complete the record. This is the only part of the module
 * with logic. */
#ifndef CLINUX_CALLS_H
#define CLINUX_CALLS_H

#include <stdint.h>

/* The state of a call: none, under way, found to hang, or having ended the process by an exit or a crash. */
enum {
    LINUX_CALL_NONE = 0,
    LINUX_CALL_UNDER_WAY = 1,
    LINUX_CALL_HANGS = 2,
    LINUX_CALL_EXITED = 3,
    LINUX_CALL_CRASHED = 4
};

/* The subject of a call. */
enum { LINUX_CALL_ABOUT_NOTHING = 0, LINUX_CALL_ABOUT_ITEM = 1, LINUX_CALL_ABOUT_LOOP = 2 };

/* The offsets of the texts from the beginning of the struct, and the size of the struct with its texts. The texts have
 * no terminating zero. The text at LINUX_CALL_LOOKS_AT is the mark of the plugin's library. */
enum {
    LINUX_CALL_NAME_AT = 64, LINUX_CALL_PLUGIN_AT = 128, LINUX_CALL_LOOKS_AT = 256, LINUX_CALL_LIBRARY_AT = 512,
    LINUX_CALL_SUBJECT_AT = 4608, LINUX_CALL_SIZE = 8192
};

/* The record of one thread's call. The thread itself writes the record with plain stores. Other threads write the state
 * and the time too. */
typedef struct linux_call {
    uint32_t state;
    int32_t signal;
    /* The time at which the call ended the process or was found to hang, in nanoseconds since 1970. */
    int64_t time;
    uint32_t about;
    uint32_t subject_length;
    uint32_t name_length;
    uint32_t plugin_length;
    uint32_t looks_length;
    uint32_t library_length;
} linux_call;

/* Begin and end a call. The caller writes the texts before the call begins. */
static inline void linux_call_begin(linux_call *call) {
    __atomic_store_n(&call->state, LINUX_CALL_UNDER_WAY, __ATOMIC_RELEASE);
}
static inline void linux_call_end(linux_call *call) {
    __atomic_store_n(&call->state, LINUX_CALL_NONE, __ATOMIC_RELEASE);
}

static inline uint32_t linux_call_state(const linux_call *call) {
    return __atomic_load_n(&call->state, __ATOMIC_ACQUIRE);
}

/* Records that the call under way hangs. Any thread may call this function. Returns 0 if no call is under way. */
int linux_call_hangs(linux_call *call, int64_t time);

/* Returns a signal's name, such as SIGSEGV. */
const char *linux_signal_name(int signal);

/* Sets the record for the calls of this thread. NULL means that the calls are not recorded. */
void linux_calls_are_in(linux_call *call);

/* Lets this thread take fatal signals, also when its stack is full. Returns the memory of the signal stack, to be given
 * back at the end of the thread. */
void *linux_take_fatal_signals(void);
void linux_give_back_signal_stack(void *stack);

/* Installs handlers for fatal signals and for exit(3) and quick_exit(3). From then on, a fatal signal in a call is
 * recorded, reported on standard error, and then has the effect that it had before. An exit(3) or quick_exit(3) in a
 * call is recorded, reported on standard error, and ends the process with `code`. The handlers are installed once for a
 * process. The host calls this function after it has opened the plugins' libraries, so that handlers that the libraries
 * installed for themselves run after these. */
void linux_watch_calls(int code);

#endif
