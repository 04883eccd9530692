/* ext/log.h: lines in the host's log, "larder.log/1".
 *
 * A line carries the plugin's id and account already. The operator's log level decides what is kept, and a flood is
 * cut off with a line that says how many were dropped.
 *
 * Advice to plugins: an error is what the operator must do something about, a warning what they may want to know, info
 * what happened, debug why. One sentence without a full stop, no line breaks, no secrets.
 */
#ifndef LARDER_EXT_LOG_H
#define LARDER_EXT_LOG_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_LOG "larder.log/1"

#define LARDER_LOG_DEBUG 0u
#define LARDER_LOG_INFO 1u
#define LARDER_LOG_WARNING 2u
#define LARDER_LOG_ERROR 3u
/* The host broke a rule of the ABI. */
#define LARDER_LOG_HOST_MISBEHAVING 4u

LARDER_BEGIN

typedef struct larder_log {
    uint32_t struct_size;
    uint32_t reserved;

    /* Writes a line: "archived 12 files". The text is copied.
     * [any] since 1.0 */
    larder_status (*write)(const larder_host *host, uint32_t level, larder_str message);
} larder_log;

LARDER_END

#endif
