/* ext/kv.h: a small store of the plugin's own, "larder.kv/1".
 *
 * Each plugin has one store for each account, and sees no other. The store survives restarts and upgrades of the
 * plugin, so write values that you can still read in two years. The host makes the writes when the call returns
 * LARDER_OK, together with its other requests: all of them or none. Reads see the earlier writes of the same run or
 * loop turn. A loop may write only in process and refresh.
 *
 * Example:
 *
 *     static larder_status count_run(const larder_host *host, const larder_kv *kv) {
 *         larder_bytes key = {(const uint8_t *)"runs", 4}, value = {NULL, 0};
 *         uint64_t runs = 0;
 *         larder_status status = kv->get(host, key, &value);
 *         if (status == LARDER_OK && value.len == sizeof runs) memcpy(&runs, value.ptr, sizeof runs);
 *         else if (status != LARDER_NOT_FOUND) return status == LARDER_OK ? LARDER_FAILED : status;
 *         runs++;
 *         value.ptr = (const uint8_t *)&runs;
 *         value.len = sizeof runs;
 *         return kv->put(host, key, value);
 *     }
 */
#ifndef LARDER_EXT_KV_H
#define LARDER_EXT_KV_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_KV "larder.kv/1"

LARDER_BEGIN

/* The store. A key is 1 byte to 1 KiB of any bytes: "last-run". */
typedef struct larder_kv {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to the value of a key. The value is borrowed until the current call returns. Returns LARDER_NOT_FOUND
     * (the key has no value), LARDER_LIMIT (a key that is empty or above 1 KiB) or LARDER_IO.
     * [processor] [loop] since 1.0 */
    larder_status (*get)(const larder_host *host, larder_bytes key, larder_bytes *out);

    /* Asks for a new value of a key, in place of its old value if it has one. A value is at most 1 MiB. The host copies
     * key and value. Returns LARDER_LIMIT (a key that is empty or above 1 KiB, a value above 1 MiB, more than 16 MiB in
     * a loop's turn, or more than the config's value-quota for all values with their keys: 64 MB as a rule).
     * [processor] [loop] since 1.0 */
    larder_status (*put)(const larder_host *host, larder_bytes key, larder_bytes value);

    /* Asks for the removal of a key's value. A key without a value is no error. Returns LARDER_LIMIT as `put` does.
     * [processor] [loop] since 1.0 */
    larder_status (*remove)(const larder_host *host, larder_bytes key);
} larder_kv;

LARDER_END

#endif
