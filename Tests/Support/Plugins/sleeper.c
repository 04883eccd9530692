/* A processor that lets the machine sleep for an hour in each run, and says how much later it is then. It is preloaded into the host as
 * well: the clocks that the host reads are its own. Of the kernel's clocks CLOCK_BOOTTIME alone goes on in the sleep, and the time of
 * day, which is set from the hardware's clock at the end. */
#define _GNU_SOURCE
#include <larder/larder.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long slept;

LARDER_EXPORT int clock_gettime(clockid_t clock, struct timespec *out) {
    int result = (int)syscall(SYS_clock_gettime, clock, out);
    if (result == 0 && (clock == CLOCK_BOOTTIME || clock == CLOCK_REALTIME)) out->tv_sec += slept;
    return result;
}

static const larder_host *host_of;

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status none(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status update(void *me, const larder_policy_list *list) { (void)me; (void)list; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t trigger, larder_item_cursor *changed) { (void)me; (void)trigger; (void)changed; return LARDER_OK; }
static larder_status nothing(void *me, uint32_t trigger) { (void)me; (void)trigger; return LARDER_OK; }
static larder_status item(void *me, uint32_t trigger, const larder_item *one) { (void)me; (void)trigger; (void)one; return LARDER_OK; }

static larder_status sleep_for_an_hour(void *me, uint32_t trigger) {
    const larder_clock *clock = host_of->extension(host_of, LARDER_STR(LARDER_EXT_CLOCK));
    const larder_log *log = host_of->extension(host_of, LARDER_STR(LARDER_EXT_LOG));
    int64_t before, after;
    char line[64];
    (void)me; (void)trigger;
    clock->monotonic(host_of, &before);
    slept += 3600;
    clock->monotonic(host_of, &after);
    log->write(host_of, LARDER_LOG_WARNING,
               larder_str_make(line, (uint64_t)snprintf(line, sizeof line, "hours slept: %ld", (long)((after - before) / 3600000000000))));
    return LARDER_OK;
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, {"sleeper", 7}, 0, triggers, none, none, none, update, preflight, sleep_for_an_hour, nothing, item, nothing,
    nothing, item, nothing, nothing, 0};
static larder_status start(void *me) { (void)me; return LARDER_OK; }
static void stop(void *me) { (void)me; }
static const void *extension(void *me, larder_str name) {
    (void)me;
    return name.len == strlen(LARDER_EXT_ITEM_POLICY_PROCESSOR) ? &processor : 0;
}
static const larder_instance instance = {sizeof instance, 0, 0, start, stop, stop, extension};
#define SERVICES LARDER_EXT_CLOCK " " LARDER_EXT_LOG
static const larder_descriptor descriptor = {
    sizeof descriptor, 0, {"org.example.sleeper", 19}, {"Sleeper", 7}, {"1.0.0", 5}, {0, 0}, {0, 0}, {SERVICES, sizeof(SERVICES) - 1}, {0, 0}};
static const larder_descriptor *describe(uint32_t index) { return index == 0 ? &descriptor : 0; }
static larder_status create(larder_str id, const larder_host *host, const larder_instance **out) {
    (void)id;
    host_of = host;
    *out = &instance;
    return LARDER_OK;
}
static const larder_module module = {sizeof module, LARDER_ABI_MINOR, describe, create};
larder_status larder_plugin_entry_v1(uint32_t host_minor, const larder_module **out) {
    (void)host_minor;
    *out = &module;
    return LARDER_OK;
}
