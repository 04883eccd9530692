/* larder.h: the whole of the ABI between Larder and its plugins.
 *
 * A plugin is a shared library with one exported function. It is asked what it holds, makes an instance for each
 * account, and from then on the two talk through tables of functions that each asks the other for by name:
 *
 *   base.h          strings, statuses, times, and the rules that hold everywhere
 *   module.h        the entry function, what a library holds, an instance's life
 *   host.h          what a plugin gets to hold: the host
 *   item.h          an item, as a plugin sees it
 *   policy.h        an item policy, as a plugin sees it
 *   trigger.h       what sets processors to work
 *
 *   ext/processor.h        what a plugin offers: it processes items               larder.item-policy-processor/1
 *   ext/event-loop.h       what a plugin offers: it asks a server what is new    larder.event-loop/1
 *   ext/config-schema.h    what a plugin offers: it has settings                  larder.config-schema/1
 *   ext/log.h              what the host offers: lines in its log                 larder.log/1
 *   ext/config.h           the plugin's settings                                  larder.config/1
 *   ext/clock.h            the time                                               larder.clock/1
 *   ext/items.h            all items that meet a condition                        larder.items/1
 *   ext/actions.h          asks for downloads and for removals of local copies    larder.actions/1
 *   ext/policies.h         lists and changes the plugin's own policies            larder.policies/1
 *   ext/kv.h               a small store of the plugin's own                      larder.kv/1
 *   ext/usage.h            the room that local copies take, and that is left      larder.usage/1
 *   ext/records.h          what loops cached                                      larder.records/1
 *   ext/projects.h         state with steps, undo and redo                        larder.projects/1
 *   ext/http.h             requests to the account's server                       larder.http/1
 *   ext/dav.h              PROPFIND and REPORT                                    larder.dav/1
 *   ext/discover.h         where the server keeps calendars                       larder.discover/1
 *   ext/cancel.h           whether the call under way should end                  larder.cancel/1
 *
 * Two more headers are for those who want them. layout.h asserts every size and offset: an author may include it to know
 * that the compiler agrees. single.h puts a library with one plugin together.
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
