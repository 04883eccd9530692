#define _GNU_SOURCE
#include "process.h"

#include "calls.h"
#include "signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { OWN_WITNESSES = 5, WITNESSES = 16, MOST_POLLED = 32 };

/* The standard descriptors, and two others of the host's, one with a low and one with a higher number. Then those by
 * which threads of the host wait, which stay open as long as the process: without them these threads stop or crash. */
static struct {
    int number;
    dev_t device;
    ino_t file;
} witness[WITNESSES];
static int witnesses;
static pthread_once_t polls_once = PTHREAD_ONCE_INIT;
static int polls[WITNESSES - OWN_WITNESSES];
static int polls_count;

static int is_there(int i) {
    struct stat info;
    return i >= witnesses || witness[i].number < 0
           || (fstat(witness[i].number, &info) == 0 && info.st_dev == witness[i].device
               && info.st_ino == witness[i].file);
}

int linux_descriptors_are_there(void) {
    for (int i = 0; i < witnesses; i++)
        if (!is_there(i)) return 0;
    return 1;
}

int linux_may_write_errors(void) { return is_there(STDERR_FILENO); }

static void note_witness(int i, int number) {
    struct stat info;
    witness[i].number = number >= 0 && fstat(number, &info) == 0 ? number : -1;
    if (witness[i].number < 0) return;
    witness[i].device = info.st_dev;
    witness[i].file = info.st_ino;
}

static void open_witness(int i, int least) {
    int own = open("/dev/null", O_RDONLY | O_CLOEXEC), number = own < 0 ? -1 : fcntl(own, F_DUPFD_CLOEXEC, least);
    if (own >= 0) close(own);
    note_witness(i, number);
}

static void find_polls(void) {
    char link[32], target[32];
    for (int number = 3; number < MOST_POLLED && polls_count < WITNESSES - OWN_WITNESSES; number++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", number);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = 0;
        if (strcmp(target, "anon_inode:[eventpoll]") == 0) polls[polls_count++] = number;
    }
}

void linux_find_polls(void) { pthread_once(&polls_once, find_polls); }

/* The signals whose dispositions are the host's: of some any change is put back, of others only one after which the
 * host would not see the signal. Then the timers of a process, and the number of their signals that came. */
static const struct {
    int number;
    const char *name;
    int is_hosts_alone;
} kept[] = {
    {SIGSEGV, "SIGSEGV", 0}, {SIGBUS, "SIGBUS", 0},   {SIGILL, "SIGILL", 0},   {SIGFPE, "SIGFPE", 0},
    {SIGABRT, "SIGABRT", 0}, {SIGTRAP, "SIGTRAP", 0}, {SIGSYS, "SIGSYS", 0},   {SIGALRM, "SIGALRM", 0},
    {SIGPROF, "SIGPROF", 0}, {SIGVTALRM, "SIGVTALRM", 0}, {SIGTERM, "SIGTERM", 1}, {SIGINT, "SIGINT", 1},
    {SIGHUP, "SIGHUP", 1},   {SIGPIPE, "SIGPIPE", 1}, {SIGIO, "SIGIO", 1},     {SIGCHLD, "SIGCHLD", 1},
};
enum { KEPT_COUNT = sizeof kept / sizeof kept[0] };
static const int timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
static const int timer_signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
static uint32_t alarms;

static void on_alarm(int number) {
    (void)number;
    __atomic_add_fetch(&alarms, 1, __ATOMIC_RELAXED);
}

static pthread_mutex_t rows_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction expected[KEPT_COUNT];
static int rows;

void linux_begin_row(void) {
    pthread_mutex_lock(&rows_lock);
    /* What a thread of a plugin's own has changed between two calls is not what the host expects. */
    if (rows == 0) linux_heed_again();
    if (rows++ == 0)
        for (int i = 0; i < KEPT_COUNT; i++) sigaction(kept[i].number, NULL, &expected[i]);
    pthread_mutex_unlock(&rows_lock);
}

void linux_end_row(void) {
    pthread_mutex_lock(&rows_lock);
    rows--;
    pthread_mutex_unlock(&rows_lock);
}

static int is_function(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static int is_taken_away(int i, const struct sigaction *now) {
    if (now->sa_handler == expected[i].sa_handler) return 0;
    if (!is_function(now)) return 1;
    /* The host itself takes the signals that end it, perhaps while a call is under way. */
    if (!is_function(&expected[i]) && kept[i].is_hosts_alone) expected[i] = *now;
    return is_function(&expected[i]) && expected[i].sa_handler != now->sa_handler && kept[i].is_hosts_alone;
}

uint32_t linux_find_harm(char *names, size_t room) {
    struct sigaction now;
    struct itimerval timer;
    static const struct itimerval none;
    uint32_t harm = 0;
    size_t at = 0;
    names[0] = 0;
    if (!linux_descriptors_are_there()) linux_call_closed_descriptors();
    pthread_mutex_lock(&rows_lock);
    for (int i = 0; i < KEPT_COUNT && rows > 0; i++) {
        if (sigaction(kept[i].number, NULL, &now) != 0 || !is_taken_away(i, &now)) continue;
        sigaction(kept[i].number, &expected[i], NULL);
        if (at < room) at += (size_t)snprintf(names + at, room - at, "%s%s", at > 0 ? ", " : "", kept[i].name);
        harm |= LINUX_HARM_SIGNALS;
    }
    for (int i = 0; i < 3; i++) {
        /* A handler of the plugin's own takes the signal. */
        if (sigaction(timer_signals[i], NULL, &now) != 0 || now.sa_handler != on_alarm) continue;
        if (getitimer(timers[i], &timer) != 0 || (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)) continue;
        setitimer(timers[i], &none, NULL);
        harm |= LINUX_HARM_TIMER;
    }
    pthread_mutex_unlock(&rows_lock);
    if (__atomic_exchange_n(&alarms, 0, __ATOMIC_RELAXED) > 0) harm |= LINUX_HARM_ALARM;
    return harm;
}

void linux_watch_process(void) {
    struct sigaction action = {0}, was;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) note_witness(i, i);
    open_witness(3, 3);
    open_witness(4, 32);
    witnesses = OWN_WITNESSES;
    while (witnesses - OWN_WITNESSES < polls_count) {
        note_witness(witnesses, polls[witnesses - OWN_WITNESSES]);
        witnesses++;
    }
    /* So does the thread that waits for sockets, perhaps while a call is under way. */
    if (sigaction(SIGPIPE, NULL, &was) == 0 && was.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 3; i++)
        if (sigaction(timer_signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(timer_signals[i], &action, NULL);
}
