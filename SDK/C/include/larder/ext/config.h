/* ext/config.h: the plugin's settings, "larder.config/1".
 *
 * The settings are a JSON object with one member for each property of the plugin's schema (config-schema.h). The host
 * has checked them against the schema and filled in the defaults. They stay the same from start to stop: when a setting
 * changes, the host stops the instance and starts it again.
 *
 * Example:
 *
 *     static larder_status read_settings(const larder_host *host, const larder_config *config) {
 *         larder_str text = {NULL, 0};
 *         larder_status status = config->settings(host, &text);
 *         if (status != LARDER_OK) return status;
 *         // Parse text.ptr, text.len here: it is gone when the current call returns.
 *         return LARDER_OK;
 *     }
 */
#ifndef LARDER_EXT_CONFIG_H
#define LARDER_EXT_CONFIG_H

#include "../base.h"
#include "../host.h"

#define LARDER_EXT_CONFIG "larder.config/1"

LARDER_BEGIN

/* The settings service. */
typedef struct larder_config {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to the settings' JSON text, such as {"years": 5}. The text is borrowed until the current call
     * returns. It is the same text each time.
     * [any] since 1.0 */
    larder_status (*settings)(const larder_host *host, larder_str *out);
} larder_config;

LARDER_END

#endif
