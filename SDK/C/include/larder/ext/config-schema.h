/* ext/config-schema.h: a plugin that has settings, "larder.config-schema/1".
 *
 * The schema is the text of a JSON Schema object. Its `properties` are the settings. The host checks the operator's
 * config against the schema before the plugin starts, names the wrong line and the nearest known name, and fills in
 * defaults:
 *
 *   {"properties": {"years": {"type": "integer", "minimum": 1, "default": 5,
 *   "description": "how long files are kept"}}}
 *
 * For each property the host reads `type` ("boolean", "integer", "number", "string", "array" with `items` of type "string"
 * or "object", or "object"), `default`, `description`, `enum`, `minimum` and `maximum`. Any other keyword makes the
 * schema invalid, so that no author relies on a check that the host does not make. A string may have a `format`. With
 * "duration", the operator writes 90s or 7d, and the plugin gets an integer in milliseconds. With "size", the operator
 * writes 700MB or 16GiB, and the plugin gets an integer in bytes. With "condition", the host checks that the text is a
 * condition as a policy has it, and the plugin gets it as it is written.
 *
 * An object has `properties` of its own, and `required` with the names of those that cannot be left out. A list of
 * objects is for settings of which there are any number:
 *
 *   {"properties": {"rules": {"type": "array", "default": [], "items": {"type": "object", "required": ["match"],
 *   "properties": {"name": {"type": "string"}, "match": {"type": "string", "format": "condition"}}}}}}
 *
 * If an object of a list has a property `name`, the host names it with each problem in it.
 *
 * A string may have a `pattern`, a regular expression that has to match somewhere in the text: "^[1-9][0-9]* weeks$".
 * Of a text that it does not match, the host says that it is not as the `description` tells: write there what the text
 * may be. Lists of objects, `required`, `pattern` and the format "condition" are since 1.5; a host before that
 * refuses the schema.
 *
 * Only the host can act on a few settings. A property at the top level declares such a setting with `heeded-as`. The
 * host then acts on it for this plugin, and the plugin gets it too. `heeded-as` is one of
 *
 *   "ignored-readers"   An array of names of programs. Reading by one of these programs does not count as use of a
 *   copy. "poll-interval"     A string with the format "duration", at least one second: the wait of the plugin's event
 *   loops
 *                       between two polls. The value of the plugin with the core loop is for all event loops, and no
 *                       loop is polled more often.
 *
 * A setting that is not a property is an error in the config. A plugin without this extension takes no settings.
 *
 * Advice to plugins: name settings as the config does, in lower-case words joined by `-`. Give each setting a default,
 * so that an empty config works. Then your code never meets a setting that is missing or has another type (config.h).
 *
 * Example:
 *
 *     static larder_status schema(void *context, larder_str *out) {
 *         (void)context;
 *         *out = LARDER_STR("{\"properties\": {\"years\": {\"type\": \"integer\", \"default\": 5}}}");
 *         return LARDER_OK;
 *     }
 *
 *     static const larder_config_schema config_schema = {sizeof(larder_config_schema), 0, schema};
 */
#ifndef LARDER_EXT_CONFIG_SCHEMA_H
#define LARDER_EXT_CONFIG_SCHEMA_H

#include "../base.h"

#define LARDER_EXT_CONFIG_SCHEMA "larder.config-schema/1"

LARDER_BEGIN

/* The schema of a plugin's settings. `context` is that of the instance. */
typedef struct larder_config_schema {
    uint32_t struct_size;
    uint32_t reserved;

    /* Sets `*out` to the schema's text, which stays unchanged until `destroy` returns. Sets the same text each time.
     * Also called before start.
     * [control] since 1.0 */
    larder_status (*schema)(void *LARDER_NULLABLE context, larder_str *out);
} larder_config_schema;

LARDER_END

#endif
