/* larder.h: the whole ABI between Larder and its plugins.
 *
 * A plugin is a shared library with one exported function. The host asks the library which plugins it holds, and
 * creates an instance of a plugin for each account. From then on the two sides talk through tables of functions, which
 * each side asks the other for by name:
 *
 *   base.h          strings, statuses, and the rules that hold everywhere
 *   module.h        the entry function, the contents of a library, an instance's life
 *   host.h          the host, as a plugin sees it
 *   item.h          an item, as a plugin sees it
 *   policy.h        an item policy, as a plugin sees it
 *   trigger.h       the events that start processors
 *
 * A plugin offers:
 *
 *   ext/processor.h        processing of items                                    larder.item-policy-processor/1
 *   ext/event-loop.h       polling of a server for news                           larder.event-loop/1
 *   ext/config-schema.h    a schema of its settings                               larder.config-schema/1
 *   ext/explain.h          what it says of an item to people                      larder.explain/1
 *
 * The host offers:
 *
 *   ext/log.h              lines in the host's log                                larder.log/1
 *   ext/config.h           the plugin's settings                                  larder.config/1
 *   ext/clock.h            the time                                               larder.clock/1
 *   ext/items.h            all items that meet a condition                        larder.items/1
 *   ext/actions.h          downloads, and removals of local copies                larder.actions/1
 *   ext/policies.h         the policies of the plugin's own kind                  larder.policies/1
 *   ext/kv.h               a small store of the plugin's own                      larder.kv/1
 *   ext/usage.h            the room that local copies take, and the room left     larder.usage/1
 *   ext/records.h          the records that event loops keep                      larder.records/1
 *   ext/projects.h         state with steps, undo and redo                        larder.projects/1
 *   ext/http.h             requests to the account's server                       larder.http/1
 *   ext/dav.h              PROPFIND and REPORT requests                           larder.dav/1
 *   ext/discover.h         the addresses of calendars, address books and files    larder.discover/1
 *   ext/cancel.h           whether the current call should end                    larder.cancel/1
 *
 * Three more headers are optional. layout.h asserts every size and offset: include it to check that your compiler lays
 * the structs out as the host's did. single.h puts a library with one plugin together. helper.h reads settings by their
 * names, and has no-ops for a processor's table.
 */
#ifndef LARDER_H
#define LARDER_H

#include "base.h"
#include "host.h"
#include "item.h"
#include "module.h"
#include "policy.h"
#include "trigger.h"

#include "ext/actions.h"
#include "ext/cancel.h"
#include "ext/clock.h"
#include "ext/config-schema.h"
#include "ext/config.h"
#include "ext/dav.h"
#include "ext/discover.h"
#include "ext/event-loop.h"
#include "ext/explain.h"
#include "ext/http.h"
#include "ext/items.h"
#include "ext/kv.h"
#include "ext/log.h"
#include "ext/policies.h"
#include "ext/processor.h"
#include "ext/projects.h"
#include "ext/records.h"
#include "ext/usage.h"

#endif
