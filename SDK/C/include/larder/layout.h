/* layout.h: assertions of every size and offset of the ABI.
 *
 * larder.h does not include this header. Include it once in a plugin's sources, or translate it to the assertions of
 * another language, to check that your compiler lays the structs out as the host's did. A line here never changes; new
 * members get new lines. The sizes are those of the newest version: a received struct may be smaller or larger.
 */
#ifndef LARDER_LAYOUT_H
#define LARDER_LAYOUT_H

#include "larder.h"

#if defined(__cplusplus)
#define LARDER_ASSERT(name, condition) static_assert(condition, #name)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define LARDER_ASSERT(name, condition) _Static_assert(condition, #name)
#else
#define LARDER_ASSERT(name, condition) typedef char larder_assert_##name[(condition) ? 1 : -1]
#endif

#define LARDER_ASSERT_SIZE(type, size) LARDER_ASSERT(type, sizeof(type) == (size))
#define LARDER_ASSERT_OFFSET(type, member, offset) LARDER_ASSERT(type##_##member, offsetof(type, member) == (offset))

LARDER_ASSERT(pointers_have_64_bits, sizeof(void *) == 8);
LARDER_ASSERT(function_pointers_are_pointers, sizeof(void (*)(void)) == sizeof(void *));

LARDER_ASSERT_SIZE(larder_str, 16);
LARDER_ASSERT_OFFSET(larder_str, ptr, 0);
LARDER_ASSERT_OFFSET(larder_str, len, 8);

LARDER_ASSERT_SIZE(larder_bytes, 16);
LARDER_ASSERT_OFFSET(larder_bytes, ptr, 0);
LARDER_ASSERT_OFFSET(larder_bytes, len, 8);

LARDER_ASSERT_SIZE(larder_host, 32);
LARDER_ASSERT_OFFSET(larder_host, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_host, abi_minor, 4);
LARDER_ASSERT_OFFSET(larder_host, context, 8);
LARDER_ASSERT_OFFSET(larder_host, extension, 16);
LARDER_ASSERT_OFFSET(larder_host, fail, 24);

LARDER_ASSERT_SIZE(larder_descriptor, 120);
LARDER_ASSERT_OFFSET(larder_descriptor, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_descriptor, reserved, 4);
LARDER_ASSERT_OFFSET(larder_descriptor, id, 8);
LARDER_ASSERT_OFFSET(larder_descriptor, name, 24);
LARDER_ASSERT_OFFSET(larder_descriptor, version, 40);
LARDER_ASSERT_OFFSET(larder_descriptor, vendor, 56);
LARDER_ASSERT_OFFSET(larder_descriptor, summary, 72);
LARDER_ASSERT_OFFSET(larder_descriptor, required, 88);
LARDER_ASSERT_OFFSET(larder_descriptor, wanted, 104);

LARDER_ASSERT_SIZE(larder_instance, 48);
LARDER_ASSERT_OFFSET(larder_instance, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_instance, reserved, 4);
LARDER_ASSERT_OFFSET(larder_instance, context, 8);
LARDER_ASSERT_OFFSET(larder_instance, start, 16);
LARDER_ASSERT_OFFSET(larder_instance, stop, 24);
LARDER_ASSERT_OFFSET(larder_instance, destroy, 32);
LARDER_ASSERT_OFFSET(larder_instance, extension, 40);

LARDER_ASSERT_SIZE(larder_module, 24);
LARDER_ASSERT_OFFSET(larder_module, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_module, abi_minor, 4);
LARDER_ASSERT_OFFSET(larder_module, describe, 8);
LARDER_ASSERT_OFFSET(larder_module, create, 16);

LARDER_ASSERT_SIZE(larder_item, 264);
LARDER_ASSERT_OFFSET(larder_item, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_item, reserved, 4);
LARDER_ASSERT_OFFSET(larder_item, present, 8);
LARDER_ASSERT_OFFSET(larder_item, path, 16);
LARDER_ASSERT_OFFSET(larder_item, name, 32);
LARDER_ASSERT_OFFSET(larder_item, mime_type, 48);
LARDER_ASSERT_OFFSET(larder_item, etag, 64);
LARDER_ASSERT_OFFSET(larder_item, file_id, 80);
LARDER_ASSERT_OFFSET(larder_item, local_id, 96);
LARDER_ASSERT_OFFSET(larder_item, download_trigger, 112);
LARDER_ASSERT_OFFSET(larder_item, parent_path, 128);
LARDER_ASSERT_OFFSET(larder_item, owner, 144);
LARDER_ASSERT_OFFSET(larder_item, permissions, 160);
LARDER_ASSERT_OFFSET(larder_item, local_path, 176);
LARDER_ASSERT_OFFSET(larder_item, shares, 192);
LARDER_ASSERT_OFFSET(larder_item, size, 208);
LARDER_ASSERT_OFFSET(larder_item, last_modified, 216);
LARDER_ASSERT_OFFSET(larder_item, last_used, 224);
LARDER_ASSERT_OFFSET(larder_item, type, 232);
LARDER_ASSERT_OFFSET(larder_item, cloud_status, 236);
LARDER_ASSERT_OFFSET(larder_item, removed, 240);
LARDER_ASSERT_OFFSET(larder_item, favorite, 244);
LARDER_ASSERT_OFFSET(larder_item, remote_version, 248);
LARDER_ASSERT_OFFSET(larder_item, available_offline, 252);
LARDER_ASSERT_OFFSET(larder_item, sync_activity, 256);
LARDER_ASSERT_OFFSET(larder_item, claims, 260);

LARDER_ASSERT_SIZE(larder_item_cursor, 24);
LARDER_ASSERT_OFFSET(larder_item_cursor, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_item_cursor, reserved, 4);
LARDER_ASSERT_OFFSET(larder_item_cursor, context, 8);
LARDER_ASSERT_OFFSET(larder_item_cursor, next, 16);

LARDER_ASSERT_SIZE(larder_policy, 160);
LARDER_ASSERT_OFFSET(larder_policy, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_policy, reserved, 4);
LARDER_ASSERT_OFFSET(larder_policy, revision, 8);
LARDER_ASSERT_OFFSET(larder_policy, id, 16);
LARDER_ASSERT_OFFSET(larder_policy, kind, 32);
LARDER_ASSERT_OFFSET(larder_policy, identifier, 48);
LARDER_ASSERT_OFFSET(larder_policy, description, 64);
LARDER_ASSERT_OFFSET(larder_policy, condition, 80);
LARDER_ASSERT_OFFSET(larder_policy, path, 96);
LARDER_ASSERT_OFFSET(larder_policy, local_id, 112);
LARDER_ASSERT_OFFSET(larder_policy, remove_when_none, 128);
LARDER_ASSERT_OFFSET(larder_policy, data, 144);

LARDER_ASSERT_SIZE(larder_policy_list, 24);
LARDER_ASSERT_OFFSET(larder_policy_list, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_policy_list, stride, 4);
LARDER_ASSERT_OFFSET(larder_policy_list, policies, 8);
LARDER_ASSERT_OFFSET(larder_policy_list, count, 16);

LARDER_ASSERT_SIZE(larder_item_policy_processor, 152);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, reserved, 4);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, kind, 8);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, fields, 24);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, triggers, 32);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, policy_condition, 40);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, match_condition, 48);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, cleanup_condition, 56);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, update_policies, 64);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, preflight, 72);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, will_enter_trigger, 80);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, begin_matching, 88);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, perform_action, 96);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, end_matching, 104);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, begin_cleanup, 112);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, perform_cleanup, 120);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, end_cleanup, 128);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, did_pass_trigger, 136);
LARDER_ASSERT_OFFSET(larder_item_policy_processor, max_records, 144);

LARDER_ASSERT_SIZE(larder_config_schema, 16);
LARDER_ASSERT_OFFSET(larder_config_schema, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_config_schema, reserved, 4);
LARDER_ASSERT_OFFSET(larder_config_schema, schema, 8);

LARDER_ASSERT_SIZE(larder_explain, 16);
LARDER_ASSERT_OFFSET(larder_explain, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_explain, reserved, 4);
LARDER_ASSERT_OFFSET(larder_explain, explain, 8);

LARDER_ASSERT_SIZE(larder_log, 16);
LARDER_ASSERT_OFFSET(larder_log, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_log, reserved, 4);
LARDER_ASSERT_OFFSET(larder_log, write, 8);

LARDER_ASSERT_SIZE(larder_config, 16);
LARDER_ASSERT_OFFSET(larder_config, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_config, reserved, 4);
LARDER_ASSERT_OFFSET(larder_config, settings, 8);

LARDER_ASSERT_SIZE(larder_clock, 24);
LARDER_ASSERT_OFFSET(larder_clock, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_clock, reserved, 4);
LARDER_ASSERT_OFFSET(larder_clock, now, 8);
LARDER_ASSERT_OFFSET(larder_clock, monotonic, 16);

LARDER_ASSERT_SIZE(larder_query, 48);
LARDER_ASSERT_OFFSET(larder_query, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_query, reserved, 4);
LARDER_ASSERT_OFFSET(larder_query, condition, 8);
LARDER_ASSERT_OFFSET(larder_query, fields, 24);
LARDER_ASSERT_OFFSET(larder_query, sort, 32);
LARDER_ASSERT_OFFSET(larder_query, flags, 36);
LARDER_ASSERT_OFFSET(larder_query, limit, 40);

LARDER_ASSERT_SIZE(larder_items, 24);
LARDER_ASSERT_OFFSET(larder_items, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_items, reserved, 4);
LARDER_ASSERT_OFFSET(larder_items, open, 8);
LARDER_ASSERT_OFFSET(larder_items, close, 16);

LARDER_ASSERT_SIZE(larder_actions, 88);
LARDER_ASSERT_OFFSET(larder_actions, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_actions, reserved, 4);
LARDER_ASSERT_OFFSET(larder_actions, download, 8);
LARDER_ASSERT_OFFSET(larder_actions, remove_local_copy, 16);
LARDER_ASSERT_OFFSET(larder_actions, purge, 24);
LARDER_ASSERT_OFFSET(larder_actions, look, 32);
LARDER_ASSERT_OFFSET(larder_actions, create_folder, 40);
LARDER_ASSERT_OFFSET(larder_actions, move, 48);
LARDER_ASSERT_OFFSET(larder_actions, copy, 56);
LARDER_ASSERT_OFFSET(larder_actions, remove_from_server, 64);
LARDER_ASSERT_OFFSET(larder_actions, set_favorite, 72);
LARDER_ASSERT_OFFSET(larder_actions, upload, 80);

LARDER_ASSERT_SIZE(larder_policies, 40);
LARDER_ASSERT_OFFSET(larder_policies, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_policies, reserved, 4);
LARDER_ASSERT_OFFSET(larder_policies, list, 8);
LARDER_ASSERT_OFFSET(larder_policies, add, 16);
LARDER_ASSERT_OFFSET(larder_policies, update, 24);
LARDER_ASSERT_OFFSET(larder_policies, remove, 32);

LARDER_ASSERT_SIZE(larder_kv, 32);
LARDER_ASSERT_OFFSET(larder_kv, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_kv, reserved, 4);
LARDER_ASSERT_OFFSET(larder_kv, get, 8);
LARDER_ASSERT_OFFSET(larder_kv, put, 16);
LARDER_ASSERT_OFFSET(larder_kv, remove, 24);

LARDER_ASSERT_SIZE(larder_usage_figures, 40);
LARDER_ASSERT_OFFSET(larder_usage_figures, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_usage_figures, reserved, 4);
LARDER_ASSERT_OFFSET(larder_usage_figures, local_bytes, 8);
LARDER_ASSERT_OFFSET(larder_usage_figures, local_copies, 16);
LARDER_ASSERT_OFFSET(larder_usage_figures, free_bytes, 24);
LARDER_ASSERT_OFFSET(larder_usage_figures, total_bytes, 32);

LARDER_ASSERT_SIZE(larder_usage, 16);
LARDER_ASSERT_OFFSET(larder_usage, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_usage, reserved, 4);
LARDER_ASSERT_OFFSET(larder_usage, read, 8);

LARDER_ASSERT_SIZE(larder_cancel, 24);
LARDER_ASSERT_OFFSET(larder_cancel, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_cancel, reserved, 4);
LARDER_ASSERT_OFFSET(larder_cancel, check, 8);
LARDER_ASSERT_OFFSET(larder_cancel, deadline, 16);

LARDER_ASSERT_SIZE(larder_loop, 40);
LARDER_ASSERT_OFFSET(larder_loop, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_loop, reserved, 4);
LARDER_ASSERT_OFFSET(larder_loop, id, 8);
LARDER_ASSERT_OFFSET(larder_loop, event_id, 24);

LARDER_ASSERT_SIZE(larder_event_page, 40);
LARDER_ASSERT_OFFSET(larder_event_page, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_event_page, refresh, 4);
LARDER_ASSERT_OFFSET(larder_event_page, more, 8);
LARDER_ASSERT_OFFSET(larder_event_page, reserved, 12);
LARDER_ASSERT_OFFSET(larder_event_page, event_id, 16);
LARDER_ASSERT_OFFSET(larder_event_page, content, 32);

LARDER_ASSERT_SIZE(larder_loop_error, 32);
LARDER_ASSERT_OFFSET(larder_loop_error, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_loop_error, code, 4);
LARDER_ASSERT_OFFSET(larder_loop_error, status, 8);
LARDER_ASSERT_OFFSET(larder_loop_error, reserved, 12);
LARDER_ASSERT_OFFSET(larder_loop_error, message, 16);

LARDER_ASSERT_SIZE(larder_event_loop, 88);
LARDER_ASSERT_OFFSET(larder_event_loop, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_event_loop, refresh_bits, 4);
LARDER_ASSERT_OFFSET(larder_event_loop, kind, 8);
LARDER_ASSERT_OFFSET(larder_event_loop, collection, 24);
LARDER_ASSERT_OFFSET(larder_event_loop, hints, 40);
LARDER_ASSERT_OFFSET(larder_event_loop, reserved, 44);
LARDER_ASSERT_OFFSET(larder_event_loop, poll, 48);
LARDER_ASSERT_OFFSET(larder_event_loop, process, 56);
LARDER_ASSERT_OFFSET(larder_event_loop, refresh, 64);
LARDER_ASSERT_OFFSET(larder_event_loop, on_error, 72);
LARDER_ASSERT_OFFSET(larder_event_loop, release_page, 80);

LARDER_ASSERT_SIZE(larder_record, 72);
LARDER_ASSERT_OFFSET(larder_record, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_record, reserved, 4);
LARDER_ASSERT_OFFSET(larder_record, key, 8);
LARDER_ASSERT_OFFSET(larder_record, version, 24);
LARDER_ASSERT_OFFSET(larder_record, value, 40);
LARDER_ASSERT_OFFSET(larder_record, content, 56);

LARDER_ASSERT_SIZE(larder_record_cursor, 24);
LARDER_ASSERT_OFFSET(larder_record_cursor, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_record_cursor, reserved, 4);
LARDER_ASSERT_OFFSET(larder_record_cursor, context, 8);
LARDER_ASSERT_OFFSET(larder_record_cursor, next, 16);

LARDER_ASSERT_SIZE(larder_records, 48);
LARDER_ASSERT_OFFSET(larder_records, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_records, reserved, 4);
LARDER_ASSERT_OFFSET(larder_records, get, 8);
LARDER_ASSERT_OFFSET(larder_records, open, 16);
LARDER_ASSERT_OFFSET(larder_records, close, 24);
LARDER_ASSERT_OFFSET(larder_records, put, 32);
LARDER_ASSERT_OFFSET(larder_records, remove, 40);

LARDER_ASSERT_SIZE(larder_http_header, 32);
LARDER_ASSERT_OFFSET(larder_http_header, name, 0);
LARDER_ASSERT_OFFSET(larder_http_header, value, 16);

LARDER_ASSERT_SIZE(larder_http_request, 72);
LARDER_ASSERT_OFFSET(larder_http_request, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_http_request, header_stride, 4);
LARDER_ASSERT_OFFSET(larder_http_request, method, 8);
LARDER_ASSERT_OFFSET(larder_http_request, target, 24);
LARDER_ASSERT_OFFSET(larder_http_request, headers, 40);
LARDER_ASSERT_OFFSET(larder_http_request, header_count, 48);
LARDER_ASSERT_OFFSET(larder_http_request, body, 56);

LARDER_ASSERT_SIZE(larder_http_answer, 32);
LARDER_ASSERT_OFFSET(larder_http_answer, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_http_answer, status, 4);
LARDER_ASSERT_OFFSET(larder_http_answer, context, 8);
LARDER_ASSERT_OFFSET(larder_http_answer, header, 16);
LARDER_ASSERT_OFFSET(larder_http_answer, read, 24);

LARDER_ASSERT_SIZE(larder_http, 24);
LARDER_ASSERT_OFFSET(larder_http, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_http, reserved, 4);
LARDER_ASSERT_OFFSET(larder_http, open, 8);
LARDER_ASSERT_OFFSET(larder_http, close, 16);

LARDER_ASSERT_SIZE(larder_dav_request, 80);
LARDER_ASSERT_OFFSET(larder_dav_request, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav_request, depth, 4);
LARDER_ASSERT_OFFSET(larder_dav_request, method, 8);
LARDER_ASSERT_OFFSET(larder_dav_request, target, 24);
LARDER_ASSERT_OFFSET(larder_dav_request, body, 40);
LARDER_ASSERT_OFFSET(larder_dav_request, properties, 56);
LARDER_ASSERT_OFFSET(larder_dav_request, property_count, 64);
LARDER_ASSERT_OFFSET(larder_dav_request, flags, 72);
LARDER_ASSERT_OFFSET(larder_dav_request, reserved, 76);

LARDER_ASSERT_SIZE(larder_dav_response, 56);
LARDER_ASSERT_OFFSET(larder_dav_response, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav_response, status, 4);
LARDER_ASSERT_OFFSET(larder_dav_response, href, 8);
LARDER_ASSERT_OFFSET(larder_dav_response, values, 24);
LARDER_ASSERT_OFFSET(larder_dav_response, value_count, 32);
LARDER_ASSERT_OFFSET(larder_dav_response, error, 40);

LARDER_ASSERT_SIZE(larder_dav_end, 40);
LARDER_ASSERT_OFFSET(larder_dav_end, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav_end, truncated, 4);
LARDER_ASSERT_OFFSET(larder_dav_end, sync_token, 8);
LARDER_ASSERT_OFFSET(larder_dav_end, error, 24);

LARDER_ASSERT_SIZE(larder_dav_answer, 32);
LARDER_ASSERT_OFFSET(larder_dav_answer, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav_answer, status, 4);
LARDER_ASSERT_OFFSET(larder_dav_answer, context, 8);
LARDER_ASSERT_OFFSET(larder_dav_answer, next, 16);
LARDER_ASSERT_OFFSET(larder_dav_answer, end, 24);

LARDER_ASSERT_SIZE(larder_dav, 24);
LARDER_ASSERT_OFFSET(larder_dav, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_dav, reserved, 4);
LARDER_ASSERT_OFFSET(larder_dav, open, 8);
LARDER_ASSERT_OFFSET(larder_dav, close, 16);

LARDER_ASSERT_SIZE(larder_discovery, 40);
LARDER_ASSERT_OFFSET(larder_discovery, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_discovery, reserved, 4);
LARDER_ASSERT_OFFSET(larder_discovery, principal, 8);
LARDER_ASSERT_OFFSET(larder_discovery, homes, 24);
LARDER_ASSERT_OFFSET(larder_discovery, home_count, 32);

LARDER_ASSERT_SIZE(larder_discover, 16);
LARDER_ASSERT_OFFSET(larder_discover, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_discover, reserved, 4);
LARDER_ASSERT_OFFSET(larder_discover, find, 8);

LARDER_ASSERT_SIZE(larder_project_ids, 24);
LARDER_ASSERT_OFFSET(larder_project_ids, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_ids, reserved, 4);
LARDER_ASSERT_OFFSET(larder_project_ids, ids, 8);
LARDER_ASSERT_OFFSET(larder_project_ids, count, 16);

LARDER_ASSERT_SIZE(larder_project, 88);
LARDER_ASSERT_OFFSET(larder_project, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project, can_undo, 4);
LARDER_ASSERT_OFFSET(larder_project, can_redo, 8);
LARDER_ASSERT_OFFSET(larder_project, reserved, 12);
LARDER_ASSERT_OFFSET(larder_project, created, 16);
LARDER_ASSERT_OFFSET(larder_project, modified, 24);
LARDER_ASSERT_OFFSET(larder_project, cursor, 32);
LARDER_ASSERT_OFFSET(larder_project, step_count, 40);
LARDER_ASSERT_OFFSET(larder_project, step_ids, 48);
LARDER_ASSERT_OFFSET(larder_project, user_data, 56);
LARDER_ASSERT_OFFSET(larder_project, assets, 72);

LARDER_ASSERT_SIZE(larder_project_step, 40);
LARDER_ASSERT_OFFSET(larder_project_step, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_step, reserved, 4);
LARDER_ASSERT_OFFSET(larder_project_step, user_data, 8);
LARDER_ASSERT_OFFSET(larder_project_step, assets, 24);

LARDER_ASSERT_SIZE(larder_project_new_step, 40);
LARDER_ASSERT_OFFSET(larder_project_new_step, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_new_step, reserved, 4);
LARDER_ASSERT_OFFSET(larder_project_new_step, user_data, 8);
LARDER_ASSERT_OFFSET(larder_project_new_step, assets_source, 24);

LARDER_ASSERT_SIZE(larder_project_update, 72);
LARDER_ASSERT_OFFSET(larder_project_update, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_update, add_stride, 4);
LARDER_ASSERT_OFFSET(larder_project_update, cursor, 8);
LARDER_ASSERT_OFFSET(larder_project_update, delete_ids, 16);
LARDER_ASSERT_OFFSET(larder_project_update, delete_count, 24);
LARDER_ASSERT_OFFSET(larder_project_update, add, 32);
LARDER_ASSERT_OFFSET(larder_project_update, add_count, 40);
LARDER_ASSERT_OFFSET(larder_project_update, user_data, 48);
LARDER_ASSERT_OFFSET(larder_project_update, if_modified, 64);

LARDER_ASSERT_SIZE(larder_project_usage, 24);
LARDER_ASSERT_OFFSET(larder_project_usage, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_project_usage, reserved, 4);
LARDER_ASSERT_OFFSET(larder_project_usage, bytes, 8);
LARDER_ASSERT_OFFSET(larder_project_usage, quota, 16);

LARDER_ASSERT_SIZE(larder_projects, 96);
LARDER_ASSERT_OFFSET(larder_projects, struct_size, 0);
LARDER_ASSERT_OFFSET(larder_projects, reserved, 4);
LARDER_ASSERT_OFFSET(larder_projects, list, 8);
LARDER_ASSERT_OFFSET(larder_projects, fetch, 16);
LARDER_ASSERT_OFFSET(larder_projects, fetch_step, 24);
LARDER_ASSERT_OFFSET(larder_projects, usage, 32);
LARDER_ASSERT_OFFSET(larder_projects, create, 40);
LARDER_ASSERT_OFFSET(larder_projects, update, 48);
LARDER_ASSERT_OFFSET(larder_projects, add_step, 56);
LARDER_ASSERT_OFFSET(larder_projects, undo, 64);
LARDER_ASSERT_OFFSET(larder_projects, redo, 72);
LARDER_ASSERT_OFFSET(larder_projects, duplicate, 80);
LARDER_ASSERT_OFFSET(larder_projects, remove, 88);

#endif
