/* ext/config.h: the plugin's settings, "larder.config/1".
 *
 * They are a JSON object with one member for each property of the plugin's schema (config-schema.h), checked against
 * it and with the defaults filled in. They stay the same from start to stop: a change stops and starts the instance.
 */
#ifndef LARDER_EXT_CONFIG_H
#define LARDER_EXT_CONFIG_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_CONFIG "larder.config/1"

LARDER_BEGIN

typedef struct larder_config {
    uint32_t struct_size;
    uint32_t reserved;

    /* Hands out the settings' text: {"years": 5}. Borrowed until the call under way returns. The same text each time.
     * [any] since 1.0 */
    larder_status (*settings)(const larder_host *host, larder_str *out);
} larder_config;

LARDER_END

#endif
