/* The record of the plugin call that a thread is in. The record lies in memory that outlives the process. Signal
 * handlers and an exit(3) handler, in which no Swift may run, complete the record. What a plugin must leave to the host
 * (signal dispositions, timers, descriptors, the process itself) is compared and put back here too. This is the only
 * part of the module with logic. */
#ifndef CLINUX_CALLS_H
#define CLINUX_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* The state of a call: none, under way, found to hang, having ended the process by an exit or a crash, under way when
 * something else is known to have ended the process, or having closed the host's descriptors. */
enum {
    LINUX_CALL_NONE = 0,
    LINUX_CALL_UNDER_WAY = 1,
    LINUX_CALL_HANGS = 2,
    LINUX_CALL_EXITED = 3,
    LINUX_CALL_CRASHED = 4,
    LINUX_CALL_CUT = 5,
    LINUX_CALL_CLOSED = 6
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
 * and the time too. Behind the record there is memory for another one, which keeps a call that forked the process. */
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
    /* Whether the thread is in a function of the host that the plugin called. */
    uint32_t is_in_host;
    /* In a record of a call that forked the process: the number of copies that came back. They count themselves. */
    uint32_t forks;
    /* What tells one start of the machine from another; 0 if it is unknown. */
    uint64_t boot;
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

/* Tell that the plugin has called a function of the host, and that the function returns. */
static inline void linux_call_enters_host(linux_call *call) {
    __atomic_store_n(&call->is_in_host, 1, __ATOMIC_RELAXED);
}
static inline void linux_call_leaves_host(linux_call *call) {
    __atomic_store_n(&call->is_in_host, 0, __ATOMIC_RELAXED);
}

/* Returns the record of the call that forked the process, of which a copy came back. */
static inline linux_call *linux_call_of_forks(linux_call *call) {
    return (linux_call *)((char *)call + LINUX_CALL_SIZE);
}

static inline uint32_t linux_call_forks(const linux_call *call) {
    return __atomic_load_n(&call->forks, __ATOMIC_ACQUIRE);
}

/* A word that the kernel sets to 0 in a forked process; NULL if the kernel cannot. */
extern uint32_t *linux_process_mark;

/* Whether this process is a fork of the one that began the watch. */
static inline int linux_is_fork(void) {
    uint32_t *mark = __atomic_load_n(&linux_process_mark, __ATOMIC_RELAXED);
    return mark && !__atomic_load_n(mark, __ATOMIC_RELAXED);
}

/* Ends a forked process that came back from a plugin's call, and records the call in which it was forked. */
_Noreturn void linux_leave_fork(void);

/* Ends a forked process that came back from the opening of a library, and says so. */
_Noreturn void linux_leave_opening(const char *library);

/* Sets the `count` records from `first` on aside, to be marked as cut when something else ends the process; and no
 * longer. */
void linux_add_calls(linux_call *first, uint32_t count);
void linux_remove_calls(linux_call *first);

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
 * call is recorded, reported on standard error, and ends the process with `code`. Neither a timer's signal nor SIGPIPE
 * ends the process any longer. The handlers are installed once for a process. The host calls this function after it has
 * opened the plugins' libraries, so that handlers that the libraries installed for themselves run after these. */
void linux_watch_calls(int code);

/* Notes the descriptors by which threads of the host wait now. A call that closes one of them is one that closed the
 * host's descriptors. Called before the first library is opened, which may make such descriptors of its own. */
void linux_find_polls(void);

/* The harm that calls did to the process. */
enum {
    LINUX_HARM_SIGNALS = 1,
    LINUX_HARM_TIMER = 2,
    LINUX_HARM_ALARM = 4,
    LINUX_HARM_LIMITS = 8,
    LINUX_HARM_LIMITS_STAY = 16
};

/* Begin and end a row of calls. What the process does with signals when no row is under way is what it has to do. */
void linux_begin_row(void);
void linux_end_row(void);

/* Compares what the process does with signals, its timers, and whether its descriptors are there, and puts back what a
 * call changed. If a call closed the descriptors, the call is recorded and the process ends, since the numbers may be
 * given to other files. `names` receives the names of the changed signals. Returns the harm that was found. */
uint32_t linux_find_harm(char *names, size_t room);

/* Compares the limits of the process, such as RLIMIT_NOFILE, with those when the row began, and puts back what a call
 * changed, as far as the process may. `names` receives the names of the changed limits. Returns the harm that was found.
 */
uint32_t linux_find_limits(char *names, size_t room);

/* Whether a call has lowered a limit that could not be put back. */
int linux_has_lost_limits(void);

/* Ends the process without the handlers that libraries have registered, except in a build with a sanitizer or a profile,
 * whose reports are written by such a handler. */
_Noreturn void linux_leave(int code);

#endif
