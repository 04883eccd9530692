/* A plugin that does nothing, and has the one defect that a -D chooses. */
#include <larder/larder.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#ifndef ID
#define ID "org.example.variant"
#endif
#ifndef KIND
#define KIND "variant"
#endif
#ifndef MODULE_SIZE
#define MODULE_SIZE sizeof(larder_module)
#endif
#ifndef DESCRIPTOR_SIZE
#define DESCRIPTOR_SIZE sizeof(larder_descriptor)
#endif
#ifndef PROCESSOR_SIZE
#define PROCESSOR_SIZE sizeof(larder_item_policy_processor)
#endif
#ifndef REQUIRED
#define REQUIRED ""
#endif
#ifndef ENTRY
#define ENTRY larder_plugin_entry_v1
#endif
#ifndef ENTRY_STATUS
#define ENTRY_STATUS LARDER_OK
#endif
#ifndef ON_OPEN
#define ON_OPEN (void)0
#endif
#ifndef ON_CREATE
#define ON_CREATE (void)0
#endif
#ifndef WANTED
#define WANTED ""
#endif
#ifndef EXPLAIN_SIZE
#define EXPLAIN_SIZE sizeof(larder_explain)
#endif
#ifndef EXPLAIN
#define EXPLAIN explain
#endif
#ifndef DID_PASS
#define DID_PASS did_pass
#endif
#define TEXT(literal) {literal, sizeof(literal) - 1}

#ifdef UNRESOLVED
void nobody_defines_this(void);
#define USE nobody_defines_this()
#else
#define USE (void)0
#endif

__attribute__((constructor)) static void opened(void) { ON_OPEN; }

static uint32_t triggers(void *me) { (void)me; return LARDER_TRIGGERS_ALL; }
static larder_status text(void *me, larder_str *out) { (void)me; (void)out; return LARDER_OK; }
static larder_status update(void *me, const larder_policy_list *l) { (void)me; (void)l; return LARDER_OK; }
static larder_status preflight(void *me, uint32_t t, larder_item_cursor *c) {
    (void)me; (void)t; (void)c;
    return LARDER_OK;
}
static larder_status pass(void *me, uint32_t t) { (void)me; (void)t; USE; return LARDER_OK; }
static larder_status did_pass(void *me, uint32_t t) { (void)me; (void)t; return LARDER_OK; }
static larder_status item(void *me, uint32_t t, const larder_item *i) { (void)me; (void)t; (void)i; return LARDER_OK; }
static const larder_item_policy_processor processor = {
    PROCESSOR_SIZE, 0, TEXT(KIND), 0, triggers, text, text, text, update, preflight, pass, pass, item, pass, pass, item,
    pass, DID_PASS, 0};

static larder_status explain(void *me, const larder_item *i, larder_str *out) {
    (void)me; (void)i; (void)out;
    return LARDER_OK;
}
static const larder_explain explainer = {EXPLAIN_SIZE, 0, EXPLAIN};

static larder_status schema_text(void *me, larder_str *out) {
    (void)me;
#ifdef SCHEMA
    *out = LARDER_STR(SCHEMA);
#else
    *out = LARDER_STR("{\"properties\": {}}");
#endif
    return LARDER_OK;
}
static const larder_config_schema schema = {sizeof schema, 0, schema_text};

static larder_status start(void *me) { (void)me; (void)did_pass; return LARDER_OK; }
static void stop(void *me) { (void)me; }
static const void *extension(void *me, larder_str name) {
    (void)me;
#ifdef SCHEMA
    if (name.len == strlen(LARDER_EXT_CONFIG_SCHEMA) && !memcmp(name.ptr, LARDER_EXT_CONFIG_SCHEMA, name.len))
        return &schema;
#endif
    (void)schema;
    (void)explain;
    if (name.len == strlen(LARDER_EXT_EXPLAIN)) return &explainer;
    return name.len == strlen(LARDER_EXT_ITEM_POLICY_PROCESSOR) ? &processor : 0;
}
static const larder_instance instance = {sizeof instance, 0, 0, start, stop, stop, extension};
static const larder_descriptor descriptor = {
    DESCRIPTOR_SIZE, 0, TEXT(ID), TEXT("Variant"), TEXT("1.0.0"), {0, 0}, {0, 0}, TEXT(REQUIRED), TEXT(WANTED)};
static const larder_descriptor *describe(uint32_t index) {
#ifdef TWICE
    return index < 2 ? &descriptor : 0;
#else
    return index == 0 ? &descriptor : 0;
#endif
}
static larder_status create(larder_str id, const larder_host *host, const larder_instance **out) {
    (void)host;
    ON_CREATE;
    if (id.len != descriptor.id.len || memcmp(id.ptr, descriptor.id.ptr, id.len)) return LARDER_NOT_FOUND;
    *out = &instance;
    return LARDER_OK;
}
#ifdef NULL_CREATE
static const larder_module module = {MODULE_SIZE, LARDER_ABI_MINOR, describe, 0};
#else
static const larder_module module = {MODULE_SIZE, LARDER_ABI_MINOR, describe, create};
#endif

larder_status ENTRY(uint32_t host_minor, const larder_module **out);
larder_status ENTRY(uint32_t host_minor, const larder_module **out) {
    (void)host_minor;
    (void)create;
#ifdef NULL_MODULE
    *out = 0;
    (void)module;
#else
    *out = &module;
#endif
    return ENTRY_STATUS;
}
