#define _GNU_SOURCE
#include "calls.h"
#include "process.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

static _Thread_local linux_call *current;
static int exit_code = EX_SOFTWARE;
uint32_t *linux_process_mark;

static const struct {
    int number;
    const char *name;
} fatal[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"},
    {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}, {SIGSYS, "SIGSYS"},
};
enum { FATAL_COUNT = sizeof fatal / sizeof fatal[0], STACK_SIZE = 64 << 10 };
static struct sigaction before[FATAL_COUNT];

static int place(int number) {
    for (int i = 0; i < FATAL_COUNT; i++)
        if (fatal[i].number == number) return i;
    return -1;
}

const char *linux_signal_name(int number) {
    int i = place(number);
    return i < 0 ? "a signal" : fatal[i].name;
}

/* The boards with records, of which a crash marks all others. */
enum { BOARDS = 1024 };
static struct {
    linux_call *first;
    uint32_t count;
} boards[BOARDS];
static pthread_mutex_t boards_lock = PTHREAD_MUTEX_INITIALIZER;

void linux_add_calls(linux_call *first, uint32_t count) {
    pthread_mutex_lock(&boards_lock);
    for (int i = 0; i < BOARDS; i++)
        if (!boards[i].first) {
            __atomic_store_n(&boards[i].count, count, __ATOMIC_RELAXED);
            __atomic_store_n(&boards[i].first, first, __ATOMIC_RELEASE);
            break;
        }
    pthread_mutex_unlock(&boards_lock);
}

void linux_remove_calls(linux_call *first) {
    pthread_mutex_lock(&boards_lock);
    for (int i = 0; i < BOARDS; i++)
        if (boards[i].first == first) __atomic_store_n(&boards[i].first, NULL, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&boards_lock);
}

/* Marks the calls under way, none of which is known to end the process. */
static void cut_calls(void) {
    for (int i = 0; i < BOARDS; i++) {
        linux_call *first = __atomic_load_n(&boards[i].first, __ATOMIC_ACQUIRE);
        uint32_t count = first ? __atomic_load_n(&boards[i].count, __ATOMIC_RELAXED) : 0;
        for (uint32_t k = 0; k < count; k++) {
            linux_call *call = (linux_call *)((char *)first + (size_t)k * LINUX_CALL_SIZE);
            uint32_t state = LINUX_CALL_UNDER_WAY;
            __atomic_compare_exchange_n(&call->state, &state, LINUX_CALL_CUT, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        }
    }
}

int linux_call_hangs(linux_call *call, int64_t time) {
    uint32_t state = LINUX_CALL_UNDER_WAY;
    if (linux_call_state(call) == LINUX_CALL_HANGS) return 1;
    __atomic_store_n(&call->time, time, __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(&call->state, &state, LINUX_CALL_HANGS, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void linux_calls_are_in(linux_call *call) { current = call; }

/* Returns the number of bytes of the control character that a text begins with, among them those that change the
 * direction or end a line; 0 if it begins with another character. */
static size_t control_length(const unsigned char *text, size_t length) {
    if (text[0] < 0x20 || text[0] == 0x7f) return 1;
    if (length < 2) return 0;
    if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0) return 2;
    if (text[0] == 0xd8 && text[1] == 0x9c) return 2;
    if (length < 3 || text[0] != 0xe2) return 0;
    if (text[1] == 0x80 && (text[2] == 0x8e || text[2] == 0x8f || (text[2] >= 0xa8 && text[2] <= 0xae))) return 3;
    return text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9 ? 3 : 0;
}

/* Replaces control characters, since a terminal would take those in a name for commands. */
static size_t append(char *line, size_t at, size_t room, const char *text, size_t length) {
    for (size_t i = 0; i < length && at < room;) {
        size_t control = control_length((const unsigned char *)text + i, length - i);
        line[at++] = control > 0 ? '?' : text[i];
        i += control > 0 ? control : 1;
    }
    return at;
}

static void say(const linux_call *call, const char *what) {
    const char *base = (const char *)call;
    char line[1024];
    size_t at = 0, room = sizeof line - 1;
    at = append(line, at, room, "larder: the plugin ", 19);
    at = append(line, at, room, base + LINUX_CALL_PLUGIN_AT, call->plugin_length);
    at = append(line, at, room, " ", 1);
    at = append(line, at, room, what, strlen(what));
    at = append(line, at, room, " in ", 4);
    at = append(line, at, room, base + LINUX_CALL_NAME_AT, call->name_length);
    if (call->about != LINUX_CALL_ABOUT_NOTHING) {
        const char *of = call->about == LINUX_CALL_ABOUT_LOOP ? " of the loop " : " of ";
        at = append(line, at, room, of, strlen(of));
        at = append(line, at, room, base + LINUX_CALL_SUBJECT_AT, call->subject_length);
    }
    line[at++] = '\n';
    for (size_t from = 0; from < at && linux_may_write_errors();) {
        ssize_t count = write(STDERR_FILENO, line + from, at - from);
        if (count <= 0) break;
        from += (size_t)count;
    }
}

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Returns this thread's call, recorded as having ended the process, or NULL if the thread is in no call. */
static linux_call *ended(uint32_t how, int number) {
    linux_call *call = current;
    uint32_t state = call ? linux_call_state(call) : LINUX_CALL_NONE;
    if (state != LINUX_CALL_UNDER_WAY && state != LINUX_CALL_HANGS) return NULL;
    call->time = nanoseconds();
    call->signal = number;
    __atomic_store_n(&call->state, how, __ATOMIC_RELEASE);
    return call;
}

static void on_signal(int number, siginfo_t *info, void *context) {
    int i = place(number);
    linux_call *call = NULL;
    char what[64];
    (void)context;
    /* A signal that another process sent says nothing about the plugin. */
    if (!linux_is_fork() && (info->si_code > 0 || info->si_pid == getpid())
        && (call = ended(LINUX_CALL_CRASHED, number))) {
        size_t at = append(what, 0, sizeof what - 1, "crashed (", 9);
        at = append(what, at, sizeof what - 1, fatal[i].name, strlen(fatal[i].name));
        what[append(what, at, sizeof what - 1, ")", 1)] = 0;
        say(call, what);
    }
    /* Whatever else is under way did not cause this, unless a call took the descriptors away from the others. */
    if (!linux_is_fork() && (call || linux_descriptors_are_there())) cut_calls();
    /* A fault happens again when this handler returns. A signal that was sent is sent again. */
    sigaction(number, &before[i], NULL);
    if (info->si_code <= 0) raise(number);
}

static void on_exit_of_process(void) {
    linux_call *call = linux_is_fork() ? NULL : ended(LINUX_CALL_EXITED, 0);
    if (!call) return;
    cut_calls();
    say(call, "ended the host with exit()");
    _exit(__atomic_load_n(&exit_code, __ATOMIC_RELAXED));
}

/* Ends the process, whose descriptors a call closed; NULL if it is not known which. Only the first caller does it. */
static _Noreturn void end_without_descriptors(linux_call *call) {
    static int is_ending;
    static const char unknown[] = "larder: something in this process closed a descriptor by which the host waits\n";
    while (__atomic_exchange_n(&is_ending, 1, __ATOMIC_ACQ_REL)) pause();
    if (call) {
        call->time = nanoseconds();
        __atomic_store_n(&call->state, LINUX_CALL_CLOSED, __ATOMIC_RELEASE);
    }
    cut_calls();
    if (call) say(call, "closed the host's descriptors");
    else if (linux_may_write_errors() && write(STDERR_FILENO, unknown, sizeof unknown - 1) < 0) {}
    _exit(__atomic_load_n(&exit_code, __ATOMIC_RELAXED));
}

void linux_call_closed_descriptors(void) {
    if (current) end_without_descriptors(current);
}

/* Returns the call that is under way, or NULL if there is none or more than one. */
static linux_call *only_call(void) {
    linux_call *only = NULL;
    for (int i = 0; i < BOARDS; i++) {
        linux_call *first = __atomic_load_n(&boards[i].first, __ATOMIC_ACQUIRE);
        uint32_t count = first ? __atomic_load_n(&boards[i].count, __ATOMIC_RELAXED) : 0;
        for (uint32_t k = 0; k < count; k++) {
            linux_call *call = (linux_call *)((char *)first + (size_t)k * LINUX_CALL_SIZE);
            uint32_t state = linux_call_state(call);
            if (state != LINUX_CALL_UNDER_WAY && state != LINUX_CALL_HANGS) continue;
            if (only) return NULL;
            only = call;
        }
    }
    return only;
}

void linux_end_without_descriptor(void) {
    const struct timespec second = {1, 0};
    /* A call that has returned by then is named by its own thread. */
    nanosleep(&second, NULL);
    end_without_descriptors(only_call());
}

/* The call in which this process was forked: a copy, since the record goes on with the calls that follow. The lock is
 * held while the process is forked. */
static union {
    linux_call call;
    char bytes[LINUX_CALL_SIZE];
} forked;
static int has_forked_call;
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void) {
    pthread_mutex_lock(&fork_lock);
    if (linux_is_fork()) return;
    has_forked_call = current && linux_call_state(current) != LINUX_CALL_NONE;
    if (has_forked_call) memcpy(&forked, current, sizeof forked);
}

static void after_fork_here(void) {
    if (!linux_is_fork()) has_forked_call = 0;
    pthread_mutex_unlock(&fork_lock);
}

static void after_fork_in_copy(void) { pthread_mutex_unlock(&fork_lock); }

void linux_leave_fork(void) {
    if (current) {
        /* A copy that was made in another way is known by the call under way only. */
        const linux_call *in = has_forked_call ? &forked.call : current;
        linux_call *kept = linux_call_of_forks(current);
        const size_t texts = LINUX_CALL_NAME_AT;
        memcpy((char *)kept + texts, (const char *)in + texts, LINUX_CALL_SIZE - texts);
        kept->about = in->about;
        kept->subject_length = in->subject_length;
        kept->name_length = in->name_length;
        kept->plugin_length = in->plugin_length;
        kept->looks_length = in->looks_length;
        kept->library_length = in->library_length;
        kept->boot = in->boot;
        __atomic_store_n(&kept->time, nanoseconds(), __ATOMIC_RELAXED);
        __atomic_add_fetch(&kept->forks, 1, __ATOMIC_RELEASE);
        say(in, "forked the host, and the copy was ended when it came back,");
    }
    _exit(__atomic_load_n(&exit_code, __ATOMIC_RELAXED));
}

void linux_leave_opening(const char *library) {
    static const char before[] = "larder: the library ";
    static const char after[] = " forked the host when it was opened, and the copy was ended when it came back\n";
    char line[1024];
    size_t at = append(line, 0, sizeof line - sizeof after, before, sizeof before - 1);
    at = append(line, at, sizeof line - sizeof after, library, strlen(library));
    memcpy(line + at, after, sizeof after - 1);
    if (linux_may_write_errors() && write(STDERR_FILENO, line, at + sizeof after - 1) < 0) {}
    _exit(__atomic_load_n(&exit_code, __ATOMIC_RELAXED));
}

static void watch(void) {
    struct sigaction action = {0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *mark = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    linux_watch_process();
    if (mark != MAP_FAILED && madvise(mark, page, MADV_WIPEONFORK) == 0) {
        *(uint32_t *)mark = 1;
        __atomic_store_n(&linux_process_mark, (uint32_t *)mark, __ATOMIC_RELAXED);
    }
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FATAL_COUNT; i++) sigaction(fatal[i].number, &action, &before[i]);
    pthread_atfork(before_fork, after_fork_here, after_fork_in_copy);
    atexit(on_exit_of_process);
    at_quick_exit(on_exit_of_process);
}

void linux_watch_calls(int code) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /* Plugins that start at once call this on several threads. */
    __atomic_store_n(&exit_code, code, __ATOMIC_RELAXED);
    pthread_once(&once, watch);
}

extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern int __llvm_profile_runtime __attribute__((weak));

void linux_leave(int code) {
    /* What plugins wrote by stdio(3). A thread inside a plugin that does not return may hold the lock for ever. */
    if (ftrylockfile(stdout) == 0) {
        fflush_unlocked(stdout);
        funlockfile(stdout);
    }
    cut_calls();
    if (__asan_init || __tsan_init || __lsan_init || &__llvm_profile_runtime) exit(code);
    _exit(code);
}

void *linux_take_fatal_signals(void) {
    sigset_t signals;
    stack_t stack = {0};
    sigemptyset(&signals);
    for (int i = 0; i < FATAL_COUNT; i++) sigaddset(&signals, fatal[i].number);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    stack.ss_sp = malloc(STACK_SIZE);
    stack.ss_size = STACK_SIZE;
    if (stack.ss_sp && sigaltstack(&stack, NULL) != 0) {
        free(stack.ss_sp);
        stack.ss_sp = NULL;
    }
    return stack.ss_sp;
}

void linux_give_back_signal_stack(void *memory) {
    stack_t none = {0};
    if (!memory) return;
    none.ss_flags = SS_DISABLE;
    none.ss_size = STACK_SIZE;
    sigaltstack(&none, NULL);
    free(memory);
}
