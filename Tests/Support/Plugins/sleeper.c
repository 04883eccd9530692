/* A processor that lets the machine sleep for an hour in each run, and reports how much later it is then. The
 * library is also preloaded into the host: the clocks that the host reads are the library's own. During the sleep only
 * two of the kernel's clocks go on: CLOCK_BOOTTIME, and the time of day, which is set from the hardware's clock at the
 * end. */
#define _GNU_SOURCE
#include <larder/larder.h>
#include <larder/single.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Exported: the host opens a copy of the library, and this is the preloaded library's own for both. */
LARDER_EXPORT volatile long slept;

LARDER_EXPORT int clock_gettime(clockid_t clock, struct timespec *out) {
    int result = (int)syscall(SYS_clock_gettime, clock, out);
    if (result == 0 && (clock == CLOCK_BOOTTIME || clock == CLOCK_REALTIME)) out->tv_sec += slept;
    return result;
}

struct sleeper {
    larder_instance instance;
    const larder_host *host;
};

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status none(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status update(void *me, const larder_policy_list *list) { (void)me; (void)list; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t trigger, larder_item_cursor *changed) {
    (void)me; (void)trigger; (void)changed;
    return LARDER_OK;
}
static larder_status nothing(void *me, uint32_t trigger) { (void)me; (void)trigger; return LARDER_OK; }
static larder_status item(void *me, uint32_t trigger, const larder_item *one) {
    (void)me; (void)trigger; (void)one;
    return LARDER_OK;
}

static larder_status sleep_for_an_hour(void *me, uint32_t trigger) {
    const larder_host *host = ((struct sleeper *)me)->host;
    const larder_clock *clock = host->extension(host, LARDER_STR(LARDER_EXT_CLOCK));
    const larder_log *log = host->extension(host, LARDER_STR(LARDER_EXT_LOG));
    int64_t before, after;
    char line[64];
    (void)trigger;
    clock->monotonic(host, &before);
    slept += 3600;
    clock->monotonic(host, &after);
    log->write(host, LARDER_LOG_WARNING,
               larder_str_make(line, (uint64_t)snprintf(line, sizeof line, "hours slept: %ld",
                                                        (long)((after - before) / 3600000000000))));
    return LARDER_OK;
}

static const larder_item_policy_processor processor = {
    sizeof processor, 0, LARDER_TEXT("sleeper"), 0, triggers, none, none, none, update, preflight, sleep_for_an_hour,
    nothing, item, nothing, nothing, item, nothing, nothing, 0};
static const larder_offer offers[] = {{LARDER_EXT_ITEM_POLICY_PROCESSOR, &processor}};

LARDER_SINGLE(struct sleeper, larder_no_start, larder_no_stop, offers, "org.example.sleeper", "Sleeper", "1.0.0",
              "", "", LARDER_EXT_CLOCK " " LARDER_EXT_LOG, "");
