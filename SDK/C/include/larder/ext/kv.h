/* ext/kv.h: a small store of the plugin's own, "larder.kv/1".
 *
 * Each plugin has one for each account; none sees another's. It outlives restarts and upgrades of the plugin, so write
 * what you can still read in two years. Writes are made when the call returns well, with everything else that it asked
 * for: all of it or nothing. Reads see what the same run, or turn of a loop, wrote before. A loop writes in process and
 * refresh alone.
 */
#ifndef LARDER_EXT_KV_H
#define LARDER_EXT_KV_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_KV "larder.kv/1"

LARDER_BEGIN

typedef struct larder_kv {
    uint32_t struct_size;
    uint32_t reserved;

    /* Reads the value of a key: "last-run". Borrowed until the call under way returns. Returns LARDER_NOT_FOUND,
     * LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*get)(const larder_host *host, larder_bytes key, larder_bytes *out);

    /* Asks that a key has this value, in place of any it had. Both are copied. Returns LARDER_LIMIT for an empty key,
     * a key above 1 KiB or a value above 1 MiB.
     * [processor] [loop] since 1.0 */
    larder_status (*put)(const larder_host *host, larder_bytes key, larder_bytes value);

    /* Asks that a key has no value. One that has none is fine.
     * [processor] [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_bytes key);
} larder_kv;

LARDER_END

#endif
