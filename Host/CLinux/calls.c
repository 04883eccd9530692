#define _GNU_SOURCE
#include "calls.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Thread_local linux_call *current;
static int exit_code;

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

int linux_call_hangs(linux_call *call, int64_t time) {
    uint32_t state = LINUX_CALL_UNDER_WAY;
    if (linux_call_state(call) == LINUX_CALL_HANGS) return 1;
    __atomic_store_n(&call->time, time, __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(&call->state, &state, LINUX_CALL_HANGS, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void linux_calls_are_in(linux_call *call) { current = call; }

/* Replaces control characters, since a terminal would take those in a name for commands. */
static size_t append(char *line, size_t at, size_t room, const char *text, size_t length) {
    for (size_t i = 0; i < length && at < room; i++) {
        unsigned char byte = (unsigned char)text[i];
        int is_control = byte < 0x20 || byte == 0x7f || (byte >= 0x80 && byte < 0xa0 && i > 0 && text[i - 1] == '\xc2');
        line[at++] = is_control ? '?' : text[i];
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
    for (size_t from = 0; from < at;) {
        ssize_t count = write(STDERR_FILENO, line + from, at - from);
        if (count <= 0) break;
        from += (size_t)count;
    }
}

/* Returns this thread's call, recorded as having ended the process, or NULL if the thread is in no call. */
static linux_call *ended(uint32_t how, int number) {
    linux_call *call = current;
    struct timespec now;
    uint32_t state = call ? linux_call_state(call) : LINUX_CALL_NONE;
    if (state != LINUX_CALL_UNDER_WAY && state != LINUX_CALL_HANGS) return NULL;
    clock_gettime(CLOCK_REALTIME, &now);
    call->time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    call->signal = number;
    __atomic_store_n(&call->state, how, __ATOMIC_RELEASE);
    return call;
}

static void on_signal(int number, siginfo_t *info, void *context) {
    int i = place(number);
    linux_call *call;
    char what[64];
    (void)context;
    /* A signal that another process sent says nothing about the plugin. */
    if ((info->si_code > 0 || info->si_pid == getpid()) && (call = ended(LINUX_CALL_CRASHED, number))) {
        size_t at = append(what, 0, sizeof what - 1, "crashed (", 9);
        at = append(what, at, sizeof what - 1, fatal[i].name, strlen(fatal[i].name));
        what[append(what, at, sizeof what - 1, ")", 1)] = 0;
        say(call, what);
    }
    /* A fault happens again when this handler returns. A signal that was sent is sent again. */
    sigaction(number, &before[i], NULL);
    if (info->si_code <= 0) raise(number);
}

static void on_exit_of_process(void) {
    linux_call *call = ended(LINUX_CALL_EXITED, 0);
    if (!call) return;
    say(call, "ended the host with exit()");
    _exit(exit_code);
}

static void watch(void) {
    struct sigaction action = {0};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FATAL_COUNT; i++) sigaction(fatal[i].number, &action, &before[i]);
    atexit(on_exit_of_process);
    at_quick_exit(on_exit_of_process);
}

void linux_watch_calls(int code) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    exit_code = code;
    pthread_once(&once, watch);
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
