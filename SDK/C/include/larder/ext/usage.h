/* ext/usage.h: the room that local copies take, and the room that is left, "larder.usage/1".
 *
 * This service is for a plugin that keeps the local copies below a size, or keeps some of the disk free.
 *
 * Advice to plugins: ask once in a run, in will_enter_trigger. The figures do not include the requests of the run,
 * which are not carried out yet: add up the sizes of the copies that you ask to be removed.
 *
 * Example:
 *
 *     static larder_status is_nearly_full(const larder_host *host, const larder_usage *usage, int *out) {
 *         larder_usage_figures figures;
 *         larder_status status;
 *         figures.struct_size = sizeof figures;
 *         status = usage->read(host, &figures);
 *         if (status == LARDER_OK) *out = figures.free_bytes < figures.total_bytes / 10;
 *         return status;
 *     }
 */
#ifndef LARDER_EXT_USAGE_H
#define LARDER_EXT_USAGE_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_USAGE "larder.usage/1"

LARDER_BEGIN

/* Sizes and counts at one moment. */
typedef struct larder_usage_figures {
    uint32_t struct_size;
    uint32_t reserved;
    /* The total recorded size in bytes of the files that are here as a version of the server's, including those with
     * local changes; and the number of these files. Both are as of the start of the run. Copies whose removal was
     * requested before and waits for nothing count as gone. */
    int64_t local_bytes;
    int64_t local_copies;
    /* The file system of the local copies, in bytes, now: the room that the host's user may still fill, plus the room
     * of the copies that are about to be removed; and the total size. */
    int64_t free_bytes;
    int64_t total_bytes;
} larder_usage_figures;

/* The usage service. */
typedef struct larder_usage {
    uint32_t struct_size;
    uint32_t reserved;

    /* Fills `*out` with the figures. Set out->struct_size before. The first two figures stay the same during a run.
     * Returns LARDER_IO (the folder of the local copies cannot be reached).
     * [processor] since 1.0 */
    larder_status (*read)(const larder_host *host, larder_usage_figures *out);
} larder_usage;

LARDER_END

#endif
