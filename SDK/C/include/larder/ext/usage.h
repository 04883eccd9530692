/* ext/usage.h: how much room the local copies take, and how much there is, "larder.usage/1".
 *
 * For a plugin that keeps local copies below a size, or some of the disk free.
 *
 * Advice to plugins: ask once a run, in will_enter_trigger. What the run asked for is not done yet and not in the figures:
 * count yourself what you ask to be removed.
 */
#ifndef LARDER_EXT_USAGE_H
#define LARDER_EXT_USAGE_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_USAGE "larder.usage/1"

LARDER_BEGIN

typedef struct larder_usage_figures {
    uint32_t struct_size;
    uint32_t reserved;
    /* What the files that are here as a version of the server's hold, in bytes, as recorded, those with changes
     * included; and how many these are. As the items were at the start of the run. Copies whose removal was asked for
     * before and waits for nothing count as gone. */
    int64_t local_bytes;
    int64_t local_copies;
    /* Of the file system that the local copies are on, in bytes, now: what the host's user may still fill, with what is
     * about to go, and all. */
    int64_t free_bytes;
    int64_t total_bytes;
} larder_usage_figures;

typedef struct larder_usage {
    uint32_t struct_size;
    uint32_t reserved;

    /* Hands out the figures. Set out->struct_size before. Asked again, the first two are the same for the run. Returns
     * LARDER_IO (the folder of the local copies cannot be reached).
     * [processor] since 1.0 */
    larder_status (*read)(const larder_host *host, larder_usage_figures *out);
} larder_usage;

LARDER_END

#endif
