/* ext/log.h: lines in the host's log, "larder.log/1".
 *
 * The host adds the plugin's id and the account to each line. The operator's log level decides which lines are kept.
 * The host cuts off a flood of lines with a line that says how many it dropped.
 *
 * Advice to plugins: use `error` for a problem that the operator must act on, `warning` for a fact that the operator
 * may want to know, `info` for an event, and `debug` for the reason of a decision. Write one sentence without a full
 * stop, without line breaks and without secrets.
 *
 * Example:
 *
 *     static void report(const larder_host *host, const larder_log *log, unsigned count) {
 *         char line[64];
 *         int length = snprintf(line, sizeof line, "archived %u files", count);
 *         log->write(host, LARDER_LOG_INFO, larder_str_make(line, (uint64_t)length));
 *     }
 */
#ifndef LARDER_EXT_LOG_H
#define LARDER_EXT_LOG_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_LOG "larder.log/1"

/* The levels of a line. */
#define LARDER_LOG_DEBUG 0u
#define LARDER_LOG_INFO 1u
#define LARDER_LOG_WARNING 2u
#define LARDER_LOG_ERROR 3u
/* The plugin noticed that the host broke a rule of the ABI. */
#define LARDER_LOG_HOST_MISBEHAVING 4u

LARDER_BEGIN

/* The log service. */
typedef struct larder_log {
    uint32_t struct_size;
    uint32_t reserved;

    /* Writes a line. `level` is one of LARDER_LOG_…. `message` is the line's text, such as "archived 12 files"; the
     * host copies it.
     * [any] since 1.0 */
    larder_status (*write)(const larder_host *host, uint32_t level, larder_str message);
} larder_log;

LARDER_END

#endif
