/* ext/config-schema.h: a plugin that has settings, "larder.config-schema/1".
 *
 * The schema is the text of a JSON Schema object whose `properties` are the settings. The host checks the operator's
 * config against it before the plugin starts, points at the line that is wrong and at the nearest known name, and
 * fills in defaults:
 *
 *   {"properties": {"years": {"type": "integer", "minimum": 1, "default": 5, "description": "how long files are
 *   kept"}}}
 *
 * Of a property the host reads `type` ("boolean", "integer", "number", "string", "array" with `items` of type "string",
 * or "object" with `properties` of its own), `default`, `description`, `enum`, `minimum` and `maximum`; other keywords make the schema wrong, so that
 * none is believed to be checked which is not. A string may have a `format`: with "duration" it is written like 90s or
 * 7d, and the plugin gets an integer, milliseconds; with "size" like 700MB or 16GiB, and the plugin gets bytes.
 * A few settings only the host can heed. A property at the top that says so with `heeded-as` is heeded for this plugin,
 * and the plugin gets it too: "ignored-readers", an array of names of programs whose reading of copies is no use of
 * them; "poll-interval", a string with the format "duration", how long the plugin's event loops wait between two polls,
 * at least a second (of the plugin with the core loop: all event loops, and no loop is polled more often).
 * A setting that is not a property is an error in the config. A plugin without this extension takes no settings.
 *
 * Advice to plugins: name settings as the config does, in lower-case words joined by `-`. Give each a default, so that
 * an empty config works. A reader of the settings (config.h) then never meets one that is missing or of another type.
 */
#ifndef LARDER_EXT_CONFIG_SCHEMA_H
#define LARDER_EXT_CONFIG_SCHEMA_H

#include "../base.h"

#define LARDER_EXT_CONFIG_SCHEMA "larder.config-schema/1"

LARDER_BEGIN

typedef struct larder_config_schema {
    uint32_t struct_size;
    uint32_t reserved;

    /* Hands out the schema's text, the same each time; it stays as it is until `destroy` returns. Called before start
     * too.
     * [control] since 1.0 */
    larder_status (*schema)(void *LARDER_NULLABLE context, larder_str *out);
} larder_config_schema;

LARDER_END

#endif
