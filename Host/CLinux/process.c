#define _GNU_SOURCE
#include "process.h"

#include "calls.h"
#include "signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { OWN_WITNESSES = 5, MOST_AWAITED = 64, MOST_FOUND = 32 };

/* A descriptor that must stay what it was. */
typedef struct {
    int number;
    dev_t device;
    ino_t file;
} witness;

/* The standard descriptors, and two others of the host's, one with a low and one with a higher number. */
static witness own[OWN_WITNESSES];
static int own_count;
/* The descriptors by which threads of the host wait, which stay open as long as the process: without them these threads
 * stop. A place is filled once, before the count has it. */
static witness awaited[MOST_AWAITED];
static int awaited_count;
static pthread_mutex_t awaited_lock = PTHREAD_MUTEX_INITIALIZER;

static int is_there(const witness *kept) {
    struct stat info;
    const int number = __atomic_load_n(&kept->number, __ATOMIC_RELAXED);
    return number < 0
           || (fstat(number, &info) == 0 && info.st_dev == kept->device && info.st_ino == kept->file);
}

int linux_descriptors_are_there(void) {
    const int count = __atomic_load_n(&awaited_count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < own_count; i++)
        if (!is_there(&own[i])) return 0;
    for (int i = 0; i < count; i++)
        if (!is_there(&awaited[i])) return 0;
    return 1;
}

int linux_may_write_errors(void) { return own_count <= STDERR_FILENO || is_there(&own[STDERR_FILENO]); }

static void note(witness *kept, int number) {
    struct stat info;
    kept->number = number >= 0 && fstat(number, &info) == 0 ? number : -1;
    if (kept->number < 0) return;
    kept->device = info.st_dev;
    kept->file = info.st_ino;
}

static void open_witness(int i, int least) {
    int first = open("/dev/null", O_RDONLY | O_CLOEXEC), number = first < 0 ? -1 : fcntl(first, F_DUPFD_CLOEXEC, least);
    if (first >= 0) close(first);
    note(&own[i], number);
}

void linux_await(int number) {
    int is_new = number >= 0;
    pthread_mutex_lock(&awaited_lock);
    for (int i = 0; i < awaited_count; i++)
        if (awaited[i].number == number) is_new = 0;
    if (is_new && awaited_count < MOST_AWAITED) {
        note(&awaited[awaited_count], number);
        __atomic_store_n(&awaited_count, awaited_count + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&awaited_lock);
}

void linux_await_no_more(int number) {
    pthread_mutex_lock(&awaited_lock);
    for (int i = 0; i < awaited_count; i++)
        if (awaited[i].number == number) __atomic_store_n(&awaited[i].number, -1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&awaited_lock);
}

static void find_polls(void) {
    char link[32], target[32];
    for (int number = 3; number < MOST_FOUND; number++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", number);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = 0;
        if (strcmp(target, "anon_inode:[eventpoll]") == 0) linux_await(number);
    }
}

void linux_find_polls(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_polls);
}

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

/* The limits of the process that a call may lower. Somebody else may raise them meanwhile, but not the size of core
 * dumps, which would have secrets in them. */
static const struct {
    int number;
    const char *name;
} kept_limits[] = {
    {RLIMIT_NOFILE, "RLIMIT_NOFILE"}, {RLIMIT_NPROC, "RLIMIT_NPROC"}, {RLIMIT_FSIZE, "RLIMIT_FSIZE"},
    {RLIMIT_AS, "RLIMIT_AS"},         {RLIMIT_DATA, "RLIMIT_DATA"},   {RLIMIT_STACK, "RLIMIT_STACK"},
    {RLIMIT_CPU, "RLIMIT_CPU"},       {RLIMIT_CORE, "RLIMIT_CORE"},
};
enum { LIMIT_COUNT = sizeof kept_limits / sizeof kept_limits[0] };
static struct rlimit expected_limits[LIMIT_COUNT];
static int lost_limits;

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
    if (rows++ == 0) {
        for (int i = 0; i < KEPT_COUNT; i++) sigaction(kept[i].number, NULL, &expected[i]);
        for (int i = 0; i < LIMIT_COUNT; i++) getrlimit(kept_limits[i].number, &expected_limits[i]);
    }
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

uint32_t linux_find_limits(char *names, size_t room) {
    struct rlimit now;
    uint32_t harm = 0;
    size_t at = 0;
    names[0] = 0;
    pthread_mutex_lock(&rows_lock);
    for (int i = 0; i < LIMIT_COUNT && rows > 0; i++) {
        struct rlimit *was = &expected_limits[i];
        if (getrlimit(kept_limits[i].number, &now) != 0) continue;
        if (now.rlim_cur >= was->rlim_cur && now.rlim_max >= was->rlim_max
            && (kept_limits[i].number != RLIMIT_CORE || now.rlim_cur == was->rlim_cur))
            continue;
        if (at < room) at += (size_t)snprintf(names + at, room - at, "%s%s", at > 0 ? ", " : "", kept_limits[i].name);
        harm |= LINUX_HARM_LIMITS;
        if (setrlimit(kept_limits[i].number, was) == 0) continue;
        /* A hard limit is raised by root alone. */
        harm |= LINUX_HARM_LIMITS_STAY;
        __atomic_store_n(&lost_limits, 1, __ATOMIC_RELAXED);
        was->rlim_max = now.rlim_max;
        if (was->rlim_cur > now.rlim_max) was->rlim_cur = now.rlim_max;
        setrlimit(kept_limits[i].number, was);
    }
    pthread_mutex_unlock(&rows_lock);
    return harm;
}

int linux_has_lost_limits(void) { return __atomic_load_n(&lost_limits, __ATOMIC_RELAXED); }

void linux_watch_process(void) {
    struct sigaction action = {0}, was;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) note(&own[i], i);
    open_witness(3, 3);
    open_witness(4, 32);
    own_count = OWN_WITNESSES;
    /* So does the thread that waits for sockets, perhaps while a call is under way. */
    if (sigaction(SIGPIPE, NULL, &was) == 0 && was.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 3; i++)
        if (sigaction(timer_signals[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
            sigaction(timer_signals[i], &action, NULL);
}
