/* A processor and an event loop that do to the host what the setting `does` says, in the call that `in` names: for
 * an item whose name ends in bad, in explain, in the loop's poll, in start, in stop, or in the match condition. If `until` is
 * set, `hang` writes to `until.begun` that it has begun, waits for the file `until`, writes to that file whether the
 * item that it was lent is unchanged, and returns. With LOOP_ONLY there is no processor. */
#include <larder/larder.h>
#include <larder/single.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define S(literal) LARDER_STR(literal)
#ifndef BUILD
#define BUILD "1.0.0"
#endif
#ifndef ID
#define ID "org.example.fatal"
#endif
#ifndef KIND
#define KIND "fatal"
#endif
#ifndef LOOP_ONLY
#define LOOP_ONLY 0
#endif

struct fatal {
    larder_instance instance;
    const larder_host *host;
    char does[32], in[32], until[512];
};

static void setting(larder_str json, const char *quoted, char *out, size_t size) {
    const char *end = json.ptr + json.len, *at = json.ptr;
    size_t n = strlen(quoted), length = 0;
    while (at + n < end && memcmp(at, quoted, n) != 0) at++;
    for (at += n; at < end && *at != '"'; at++) {}
    for (at++; at < end && *at != '"' && length + 1 < size; at++)
        out[length++] = *at == '\\' && at + 1 < end ? *++at : *at;
    out[length] = 0;
}

static int deeper(volatile char *above) {
    volatile char here[4096];
    here[0] = *above;
    if (!here[0]) return 0;
    return deeper(here) + here[0];
}

static void hang(struct fatal *me, const larder_item *item) {
    char path[512] = "", begun[sizeof me->until + 8];
    size_t length = item && item->path.len < sizeof path ? item->path.len : 0;
    struct timespec rest = {0, 10000000};
    FILE *file;
    if (length) memcpy(path, item->path.ptr, length);
    if (me->until[0]) {
        snprintf(begun, sizeof begun, "%s.begun", me->until);
        if ((file = fopen(begun, "w"))) {
            fputs("begun", file);
            fclose(file);
        }
    }
    while (!me->until[0] || access(me->until, F_OK) != 0) nanosleep(&rest, 0);
    file = fopen(me->until, "w");
    if (!file) return;
    fputs(item && item->path.len == length && !memcmp(path, item->path.ptr, length) ? "as it was" : "changed", file);
    fclose(file);
}

static void hang_at_exit(void) { for (;;) pause(); }
static void crash_at_exit(void) { abort(); }

/* Closes the first or the last descriptor of a kind, by which a thread of the host waits. */
static void close_awaited(const char *kind, int isLast) {
    char link[32], target[32];
    int found = -1;
    for (int i = 3; i < 60 && (isLast || found < 0); i++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", i);
        const ssize_t length = readlink(link, target, sizeof target - 1);
        if (length <= 0) continue;
        target[length] = 0;
        if (!strcmp(target, kind)) found = i;
    }
    close(found);
}

/* Ignores SIGTERM when no call is under way. */
static void *ignore_between(void *nothing) {
    const struct timespec rest = {0, 300000000};
    nanosleep(&rest, NULL);
    signal(SIGTERM, SIG_IGN);
    return nothing;
}

/* Forks. The copy comes back, or asks the host for something, exits, or starts a program. */
static pid_t late_child;
static int late_gate[2];

/* Forks a copy that comes back during a later call, which `let_late_child_come` is. */
static void divide_late(void) {
    char byte;
    if (pipe(late_gate) != 0) return;
    late_child = fork();
    if (late_child != 0) return;
    if (read(late_gate[0], &byte, 1) != 1) _exit(1);
}
static void let_late_child_come(void) {
    if (late_child <= 0) return;
    if (write(late_gate[1], "x", 1) == 1) waitpid(late_child, 0, 0);
    late_child = 0;
}

#ifdef FORK_AT_OPENING
__attribute__((constructor)) static void divide_at_opening(void) {
    const pid_t child = fork();
    if (child > 0) waitpid(child, 0, 0);
}
#endif

static void lower_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur -= 1;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void divide(struct fatal *me) {
    char *const program[] = {"true", 0};
    pid_t child = fork();
    if (child > 0) waitpid(child, 0, 0);
    if (child != 0 || !strcmp(me->does, "fork")) return;
    if (!strcmp(me->does, "fork and ask")) me->host->extension(me->host, S(LARDER_EXT_CONFIG));
    if (!strcmp(me->does, "fork and exit")) exit(0);
    if (!strcmp(me->does, "fork and exec")) execv("/bin/true", program);
    _exit(1);
}

static larder_status act(struct fatal *me, const char *in, const larder_item *item) {
    volatile char start = 1;
    if (strcmp(me->in, in) != 0) return LARDER_OK;
    if (!strcmp(me->does, "crash")) *(volatile int *)0 = 1;
    if (!strcmp(me->does, "abort")) abort();
    if (!strcmp(me->does, "overflow")) return (larder_status)deeper(&start);
    if (!strcmp(me->does, "exit")) exit(0);
    if (!strcmp(me->does, "be killed")) raise(SIGKILL);
    if (!strcmp(me->does, "hang")) hang(me, item);
    if (!strcmp(me->does, "_exit")) _exit(0);
    if (!strcmp(me->does, "unhandle")) signal(SIGSEGV, SIG_DFL);
    if (!strcmp(me->does, "unhandle and crash") && signal(SIGSEGV, SIG_DFL) != SIG_ERR) *(volatile int *)0 = 1;
    for (int i = 3; !strcmp(me->does, "close") && i < 60; i++) close(i);
    if (!strcmp(me->does, "close standard input")) close(0);
    if (!strcmp(me->does, "close a poll")) close_awaited("anon_inode:[eventpoll]", 0);
    if (!strcmp(me->does, "close the last poll")) close_awaited("anon_inode:[eventpoll]", 1);
    if (!strcmp(me->does, "close an event")) close_awaited("anon_inode:[eventfd]", 1);
    if (!strcmp(me->does, "ignore")) signal(SIGTERM, SIG_IGN);
    if (!strcmp(me->does, "ignore between calls")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, ignore_between, NULL) == 0) pthread_detach(thread);
    }
    if (!strcmp(me->does, "set alarm")) alarm(1);
    if (!strcmp(me->does, "get alarm")) kill(getpid(), SIGALRM);
    if (!strcmp(me->does, "hang at exit")) atexit(hang_at_exit);
    if (!strcmp(me->does, "crash at exit")) atexit(crash_at_exit);
    if (!strcmp(me->does, "lower a limit")) lower_limit();
    if (!strcmp(me->does, "fork late")) divide_late();
    else if (!strncmp(me->does, "fork", 4)) divide(me);
    return LARDER_OK;
}

static uint32_t triggers(void *me) { (void)me; return 0xffffffff; }
static larder_status none(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status matching(void *me, larder_str *out) {
    *out = S("type == \"file\"");
    return act(me, "match", 0);
}
static larder_status update(void *me, const larder_policy_list *list) { (void)me; (void)list; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t trigger, larder_item_cursor *changed) {
    (void)me, (void)trigger, (void)changed;
    return LARDER_OK;
}
static larder_status nothing(void *me, uint32_t trigger) {
    (void)me, (void)trigger;
    let_late_child_come();
    return LARDER_OK;
}
static larder_status perform(void *me, uint32_t trigger, const larder_item *item) {
    (void)trigger;
    if (item->path.len < 3 || memcmp(item->path.ptr + item->path.len - 3, "bad", 3) != 0) return LARDER_OK;
    return act(me, "perform", item);
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT(KIND), LARDER_FIELD_BIT(LARDER_FIELD_PATH), triggers, none, matching, none,
    update, preflight, nothing, nothing, perform, nothing, nothing, perform, nothing, nothing, 0};

static larder_status explain(void *me, const larder_item *item, larder_str *out) {
    *out = S("it is still there");
    return act(me, "explain", item);
}
static const larder_explain explainer = {sizeof explainer, 0, explain};

static larder_status poll(void *me, const larder_loop *loop, larder_event_page *out) {
    larder_status status = act(me, "poll", 0);
    (void)loop;
    out->event_id = S("1");
    return status;
}
static larder_status process(void *me, const larder_loop *loop, const larder_event_page *page) {
    (void)me, (void)loop, (void)page;
    return LARDER_OK;
}
static larder_status refresh(void *me, const larder_loop *loop, uint32_t what, larder_event_page *out) {
    (void)me, (void)loop, (void)what;
    out->event_id = S("0");
    return LARDER_OK;
}
static void on_error(void *me, const larder_loop *loop, const larder_loop_error *error) {
    (void)me, (void)loop, (void)error;
}
static void release_page(void *me, larder_event_page *page) { (void)me, (void)page; }

static const larder_event_loop loops = {
    sizeof loops, 0, LARDER_TEXT(KIND), LARDER_TEXT(""), 0, 0, poll, process, refresh, on_error, release_page};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
    *out = S("{\"properties\": {\"does\": {\"type\": \"string\", \"default\": \"\"}, \"in\": {\"type\": \"string\", "
             "\"default\": \"\"}, \"until\": {\"type\": \"string\", \"default\": \"\"}}}");
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me_) {
    struct fatal *me = me_;
    const larder_config *config = me->host->extension(me->host, S(LARDER_EXT_CONFIG));
    larder_str json;
    if (!config || config->settings(me->host, &json) != LARDER_OK) return LARDER_UNSUPPORTED;
    setting(json, "\"does\"", me->does, sizeof me->does);
    setting(json, "\"in\"", me->in, sizeof me->in);
    setting(json, "\"until\"", me->until, sizeof me->until);
    return act(me, "start", 0);
}
static void stop(void *me) { act(me, "stop", 0); }
static const larder_offer offers[] = {
    {LARDER_EXT_ITEM_POLICY_PROCESSOR, LOOP_ONLY ? NULL : &processor}, {LARDER_EXT_EVENT_LOOP, &loops},
    {LARDER_EXT_CONFIG_SCHEMA, &schema}, {LARDER_EXT_EXPLAIN, &explainer}};

LARDER_SINGLE(struct fatal, start, stop, offers, ID, "Fatal", BUILD, "", "",
              LARDER_EXT_CONFIG, "");
