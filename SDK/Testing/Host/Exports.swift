// The names are those of the header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CLarder
public import LarderFakeHost
import Model
import PluginHost

// The functions of LarderFakeHost.h, whose comments describe them.

private func host(_ fake: OpaquePointer) -> FakeHost {
    Unmanaged<FakeHost>.fromOpaque(UnsafeRawPointer(fake)).takeUnretainedValue()
}

private func opened(_ open: () throws(ScriptedLibrary.NotStarted) -> ScriptedLibrary) -> OpaquePointer {
    OpaquePointer(Unmanaged.passRetained(FakeHost(open)).toOpaque())
}

private func text(_ text: UnsafePointer<CChar>) -> String { String(cString: text) }

// MARK: The plugin

@c @implementation public func larder_fake_open(_ library: UnsafePointer<CChar>) -> OpaquePointer {
    opened { () throws(ScriptedLibrary.NotStarted) in try ScriptedLibrary(path: text(library)) }
}

@c @implementation public func larder_fake_for(_ entry: larder_plugin_entry) -> OpaquePointer {
    opened { () throws(ScriptedLibrary.NotStarted) in try ScriptedLibrary(entry: entry) }
}

@c @implementation public func larder_fake_free(_ fake: OpaquePointer) {
    host(fake).close()
    Unmanaged<FakeHost>.fromOpaque(UnsafeRawPointer(fake)).release()
}

@c @implementation public func larder_fake_problem(_ fake: OpaquePointer) -> UnsafePointer<CChar>? {
    let fake = host(fake)
    return fake.problem.map(fake.lent.cString)
}

@c @implementation public func larder_fake_describe(
    _ fake: OpaquePointer, _ index: UInt32
) -> UnsafePointer<larder_descriptor>? {
    host(fake).library?.module.describe(index)
}

@c @implementation public func larder_fake_start(_ fake: OpaquePointer, _ id: UnsafePointer<CChar>) -> larder_status {
    host(fake).start(PluginID(text(id)))
}

@c @implementation public func larder_fake_stop(_ fake: OpaquePointer) { host(fake).stop() }

@c @implementation public func larder_fake_schema(_ fake: OpaquePointer) -> UnsafePointer<CChar>? {
    let fake = host(fake)
    return fake.instance?.settingsSchema.map { fake.lent.cString($0.text) }
}

// MARK: The stage

@c @implementation public func larder_fake_settings(_ fake: OpaquePointer, _ json: UnsafePointer<CChar>) {
    host(fake).settings = text(json)
}

@c @implementation public func larder_fake_time(_ fake: OpaquePointer, _ now: Int64, _ monotonic: Int64) {
    host(fake).now = Timestamp(nanoseconds: now)
    host(fake).monotonic = .nanoseconds(monotonic)
}

@c @implementation public func larder_fake_room(
    _ fake: OpaquePointer, _ local_bytes: Int64, _ local_copies: Int64, _ free_bytes: Int64, _ total_bytes: Int64
) {
    host(fake).usage = PluginUsage(
        localBytes: local_bytes, localCopies: local_copies, freeBytes: free_bytes, totalBytes: total_bytes)
}

@c @implementation public func larder_fake_put_item(_ fake: OpaquePointer, _ item: UnsafePointer<larder_item>) {
    let item = FakeItem(sized(item, larder_item()))
    host(fake).items.put(item, item.localID)
}

@c @implementation public func larder_fake_drop_item(_ fake: OpaquePointer, _ local_id: UnsafePointer<CChar>) {
    host(fake).items.remove(LocalID(text(local_id)))
}

@c @implementation public func larder_fake_put_policy(_ fake: OpaquePointer, _ policy: UnsafePointer<larder_policy>) {
    let policy = ItemPolicy(sized(policy, larder_policy()))
    host(fake).put(policy)
}

@c @implementation public func larder_fake_drop_policy(_ fake: OpaquePointer, _ id: UnsafePointer<CChar>) {
    host(fake).dropPolicy(PolicyID(text(id)))
}

@c @implementation public func larder_fake_evaluate_with(
    _ fake: OpaquePointer, _ evaluator: @escaping larder_fake_evaluator, _ context: UnsafeMutableRawPointer?
) {
    host(fake).evaluator = { evaluator(context, $0, $1) != 0 }
}

@c @implementation public func larder_fake_withhold(_ fake: OpaquePointer, _ service: UnsafePointer<CChar>) {
    host(fake).withheld.insert(text(service))
}

@c @implementation public func larder_fake_grant(_ fake: OpaquePointer, _ grant: UnsafePointer<CChar>) {
    guard let grant = PluginSettings.Grant(rawValue: text(grant)) else { return }
    host(fake).grants.insert(grant)
    host(fake).instance?.grantHere(grant)
}

@c @implementation public func larder_fake_fail(
    _ fake: OpaquePointer, _ function: UnsafePointer<CChar>, _ nth: UInt32, _ status: larder_status
) {
    host(fake).addFault(in: text(function), nth: nth, status)
}

@c @implementation public func larder_fake_cancel(_ fake: OpaquePointer) { host(fake).cancel() }

// MARK: The stage of event loops

@c @implementation public func larder_fake_put_record(
    _ fake: OpaquePointer, _ collection: UnsafePointer<CChar>, _ record: UnsafePointer<larder_record>
) {
    let record = sized(record, larder_record())
    host(fake).records.put(
        Record(
            key: RecordKey(record.key.string ?? ""), version: record.version.string ?? "",
            value: record.value.string ?? "", content: record.content.array),
        in: RecordCollection(text(collection)))
}

@c @implementation public func larder_fake_drop_record(
    _ fake: OpaquePointer, _ collection: UnsafePointer<CChar>, _ key: UnsafePointer<CChar>
) {
    let fake = host(fake)
    fake.removeRecord(
        RecordKey(text(key)), from: RecordCollection(text(collection)), loops: fake.instance?.loops)
}

@c @implementation public func larder_fake_set_event_id(
    _ fake: OpaquePointer, _ loop: UnsafePointer<CChar>, _ event_id: UnsafePointer<CChar>?
) {
    let (fake, loop, id) = (host(fake), text(loop), event_id.map { EventID(text($0)) })
    if fake.eventIDs[loop] != id { fake.repeating.remove(loop) }
    fake.eventIDs[loop] = id
}

@c @implementation public func larder_fake_event_id(
    _ fake: OpaquePointer, _ loop: UnsafePointer<CChar>
) -> UnsafePointer<CChar>? {
    let fake = host(fake)
    return fake.eventIDs[text(loop)].map { fake.lent.cString($0.text) }
}

@c @implementation public func larder_fake_homes(
    _ fake: OpaquePointer, _ principal: UnsafePointer<CChar>?, _ homes: UnsafePointer<UnsafePointer<CChar>>?,
    _ count: Int
) {
    setHomes(of: "caldav", fake, principal, homes, count)
}

@c @implementation public func larder_fake_address_book_homes(
    _ fake: OpaquePointer, _ principal: UnsafePointer<CChar>?, _ homes: UnsafePointer<UnsafePointer<CChar>>?,
    _ count: Int
) {
    setHomes(of: "carddav", fake, principal, homes, count)
}

private func setHomes(
    of service: String, _ fake: OpaquePointer, _ principal: UnsafePointer<CChar>?,
    _ homes: UnsafePointer<UnsafePointer<CChar>>?, _ count: Int
) {
    let homes = UnsafeBufferPointer(start: homes, count: count).map(text)
    host(fake).server.homes[service] =
        homes.isEmpty ? nil : DAVHomes(principal: principal.map(text), homes: homes)
}

@c @implementation public func larder_fake_files_home(_ fake: OpaquePointer, _ home: UnsafePointer<CChar>?) {
    host(fake).server.filesHome = home.map(text)
}

@c @implementation public func larder_fake_answer(
    _ fake: OpaquePointer, _ method: UnsafePointer<CChar>, _ target: UnsafePointer<CChar>, _ status: UInt32,
    _ body: UnsafePointer<CChar>?
) {
    var script = FakeServer.Script(
        method: text(method), target: text(target), isDAV: false, status: Int(status))
    if let body = body.map(text), !body.isEmpty { script.chunks = [Array(body.utf8)] }
    host(fake).server.scripts.append(script)
}

@c @implementation public func larder_fake_answer_header(
    _ fake: OpaquePointer, _ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>
) {
    host(fake).server.change { $0.headers.append((text(name), text(value))) }
}

@c @implementation public func larder_fake_answer_chunk(
    _ fake: OpaquePointer, _ bytes: UnsafeRawPointer, _ length: Int
) {
    host(fake).server.change { $0.chunks.append(Array(UnsafeRawBufferPointer(start: bytes, count: length))) }
}

@c @implementation public func larder_fake_answer_dav(
    _ fake: OpaquePointer, _ method: UnsafePointer<CChar>, _ target: UnsafePointer<CChar>, _ status: UInt32
) {
    host(fake).server.scripts.append(
        FakeServer.Script(method: text(method), target: text(target), isDAV: true, status: Int(status)))
}

@c @implementation public func larder_fake_response(
    _ fake: OpaquePointer, _ href: UnsafePointer<CChar>, _ status: UInt32, _ error: UnsafePointer<CChar>?
) {
    host(fake).server.change {
        $0.responses.append(
            FakeServer.Response(href: text(href), status: Int(status), errors: names(error)))
    }
}

/// Returns the names that a text has with spaces between them.
private func names(_ list: UnsafePointer<CChar>?) -> [String] {
    list.map { text($0).split(separator: " ").map(String.init) } ?? []
}

@c @implementation public func larder_fake_property(
    _ fake: OpaquePointer, _ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>
) {
    host(fake).server.change { script in
        guard !script.responses.isEmpty else { return }
        script.responses[script.responses.count - 1].values.append((text(name), text(value)))
    }
}

@c @implementation public func larder_fake_end_dav(
    _ fake: OpaquePointer, _ sync_token: UnsafePointer<CChar>?, _ truncated: UInt32, _ error: UnsafePointer<CChar>?
) {
    host(fake).server.change {
        $0.end = MultistatusEnd(
            syncToken: sync_token.map(text), isTruncated: truncated != 0, errors: names(error))
    }
}

@c @implementation public func larder_fake_break_answer(_ fake: OpaquePointer, _ status: larder_status) {
    host(fake).server.change { $0.breaks = status == LARDER_OK ? nil : status }
}

@c @implementation public func larder_fake_fail_request(_ fake: OpaquePointer, _ status: larder_status) {
    host(fake).server.change { $0.failure = status == LARDER_OK ? nil : status }
}

@c @implementation public func larder_fake_under_way(_ fake: OpaquePointer) -> Int { host(fake).server.underWay }

@c @implementation public func larder_fake_serve_with(
    _ fake: OpaquePointer, _ server: larder_fake_server?, _ context: UnsafeMutableRawPointer?
) {
    host(fake).server.serve = server.map { server in
        { method, target, body in
            method.withCString { method in
                target.withCString { target in body.withCString { server(context, method, target, $0) } }
            }
        }
    }
}

@c @implementation public func larder_fake_unasked(_ fake: OpaquePointer) -> Int { host(fake).server.scripts.count }

// MARK: Projects

@c @implementation public func larder_fake_quota(_ fake: OpaquePointer, _ bytes: UInt64) {
    host(fake).projects.quota = Int64(clamping: bytes)
}

@c @implementation public func larder_fake_set_cursor(
    _ fake: OpaquePointer, _ id: UnsafePointer<CChar>, _ cursor: UInt64
) -> CInt {
    host(fake).projects.setCursor(text(id), cursor) ? 1 : 0
}

@c @implementation public func larder_fake_project_count(_ fake: OpaquePointer) -> Int { host(fake).projects.ids.count }

@c @implementation public func larder_fake_project_id(
    _ fake: OpaquePointer, _ index: Int
) -> UnsafePointer<CChar>? {
    let fake = host(fake)
    let ids = fake.projects.ids
    return ids.indices.contains(index) ? fake.lent.cString(ids[index]) : nil
}

@c @implementation public func larder_fake_project(
    _ fake: OpaquePointer, _ id: UnsafePointer<CChar>
) -> UnsafePointer<larder_project>? {
    host(fake).projects.view(text(id))
}

@c @implementation public func larder_fake_project_step(
    _ fake: OpaquePointer, _ id: UnsafePointer<CChar>, _ index: Int
) -> UnsafePointer<larder_project_step>? {
    host(fake).projects.stepView(text(id), index)
}

// MARK: The work

@c @implementation public func larder_fake_run(
    _ fake: OpaquePointer, _ trigger: UInt32, _ changed: UnsafePointer<UnsafePointer<CChar>>?, _ count: Int
) -> larder_status {
    let fake = host(fake)
    // The test may have taken the ids from what it borrowed.
    let ids = UnsafeBufferPointer(start: changed, count: count).map(text)
    fake.lent.free()
    guard let instance = fake.instance else { return LARDER_WRONG_STATE }
    guard let trigger = Trigger(rawValue: trigger) else { return instance.kind == nil ? LARDER_WRONG_STATE : LARDER_OK }
    let items = trigger == .itemsChanged ? ids.compactMap { fake.items[LocalID($0)] } : nil
    fake.firstFailure = LARDER_OK
    let isDone: Void? = instance.withProcessorHere { FakeRun(fake, trigger, changed: items).perform($0) }
    return isDone == nil ? LARDER_WRONG_STATE : fake.firstFailure
}

@c @implementation public func larder_fake_poll(
    _ fake: OpaquePointer, _ loop: UnsafePointer<CChar>
) -> larder_status {
    let (fake, loop) = (host(fake), LoopID(text(loop)))
    fake.lent.free()
    fake.hasMore = false
    guard let instance = fake.instance, let offer = instance.loops else { return LARDER_WRONG_STATE }
    return instance.withLoopHere(loop) { FakeTurn(fake, loop, offer).perform($0) } ?? LARDER_WRONG_STATE
}

@c @implementation public func larder_fake_has_more(_ fake: OpaquePointer) -> CInt { host(fake).hasMore ? 1 : 0 }

private func condition(_ which: ProcessorCalls.Condition, _ fake: OpaquePointer) -> UnsafePointer<CChar>? {
    let fake = host(fake)
    let text = fake.instance?.withProcessorHere { calls in
        calls.begin(FakeRun(fake, .policiesChanged))
        defer { calls.end() }
        return calls.condition(which, .policiesChanged)
    }
    return text.flatMap(\.self).map { fake.lent.cString($0) }
}

@c @implementation public func larder_fake_policy_condition(_ fake: OpaquePointer) -> UnsafePointer<CChar>? {
    condition(.policy, fake)
}

@c @implementation public func larder_fake_match_condition(_ fake: OpaquePointer) -> UnsafePointer<CChar>? {
    condition(.match, fake)
}

@c @implementation public func larder_fake_cleanup_condition(_ fake: OpaquePointer) -> UnsafePointer<CChar>? {
    condition(.cleanup, fake)
}

@c @implementation public func larder_fake_explain(
    _ fake: OpaquePointer, _ local_id: UnsafePointer<CChar>
) -> UnsafePointer<CChar>? {
    let fake = host(fake)
    fake.explanation.free()
    guard let item = fake.items[LocalID(text(local_id))] else { return nil }
    let text = fake.instance?.withProcessorHere {
        FakeRun(fake, .policiesChanged).explanation(of: item, $0)
    }
    return text.flatMap(\.self).map { fake.explanation.cString($0) }
}

// MARK: The record of what happened

@c @implementation public func larder_fake_count(_ fake: OpaquePointer, _ kind: UInt32) -> Int {
    let fake = host(fake)
    if kind == LARDER_FAKE_MISTAKE { fake.addStrays() }
    return fake.journal.count(kind)
}

@c @implementation public func larder_fake_entry_at(
    _ fake: OpaquePointer, _ kind: UInt32, _ index: Int
) -> UnsafePointer<larder_fake_entry>? {
    let fake = host(fake)
    guard let entry = fake.journal[kind, index] else { return nil }
    let lent = fake.lent
    return lent.copy(
        larder_fake_entry(
            kind: kind, number: entry.number, status: entry.status, reserved: 0, name: lent.cString(entry.name),
            path: entry.path.map(lent.cString), id: entry.id.map(lent.cString), text: entry.text.map(lent.cString),
            policy: entry.policy.map { lent.copy(lent.view($0, id: entry.id ?? "")) },
            target: entry.target.map(lent.cString)))
}

@c @implementation public func larder_fake_forget(_ fake: OpaquePointer) {
    host(fake).lent.free()
    host(fake).journal.forget()
}

@c @implementation public func larder_fake_policy_count(_ fake: OpaquePointer) -> Int { host(fake).policies.count }

@c @implementation public func larder_fake_policy_at(
    _ fake: OpaquePointer, _ index: Int
) -> UnsafePointer<larder_policy>? {
    let fake = host(fake)
    let all = fake.policies.all
    guard all.indices.contains(index) else { return nil }
    let policy = all[index]
    return fake.lent.copy(fake.lent.view(policy, id: policy.id.text))
}

@c @implementation public func larder_fake_record(
    _ fake: OpaquePointer, _ collection: UnsafePointer<CChar>, _ key: UnsafePointer<CChar>
) -> UnsafePointer<larder_record>? {
    let fake = host(fake)
    return fake.record(RecordKey(text(key)), in: RecordCollection(text(collection)), .all).map(fake.lent.view)
}

@c @implementation public func larder_fake_record_at(
    _ fake: OpaquePointer, _ collection: UnsafePointer<CChar>, _ index: Int
) -> UnsafePointer<larder_record>? {
    let fake = host(fake)
    let all = fake.records.all(in: RecordCollection(text(collection)))
    return all.indices.contains(index) ? fake.lent.view(all[index]) : nil
}

@c @implementation public func larder_fake_value(
    _ fake: OpaquePointer, _ key: UnsafePointer<CChar>
) -> UnsafePointer<larder_bytes>? {
    let fake = host(fake)
    return fake.values[Array(text(key).utf8)].map { fake.lent.copy(fake.lent.view($0)) }
}

extension Arena {
    fileprivate func view(_ record: Record) -> UnsafePointer<larder_record> {
        var view = larder_record()
        view.struct_size = UInt32(MemoryLayout<larder_record>.size)
        (view.key, view.version, view.value) = (text(record.key.text), text(record.version), text(record.value))
        view.content = self.view(record.content)
        return copy(view)
    }

    fileprivate func view(_ policy: ItemPolicy, id: String) -> larder_policy {
        larder_policy(
            struct_size: UInt32(MemoryLayout<larder_policy>.size), reserved: 0, revision: policy.revision,
            id: text(id), kind: text(policy.kind.text), identifier: text(policy.identifier),
            description: text(policy.description), condition: text(policy.condition), path: text(policy.path?.text),
            local_id: text(policy.localID?.text), remove_when_none: text(policy.removeWhenNone),
            data: view(policy.data))
    }
}

extension ItemPolicy {
    fileprivate init(_ view: larder_policy) {
        self.init(
            id: PolicyID(view.id.string ?? ""), kind: PolicyKind(view.kind.string ?? ""),
            identifier: view.identifier.string, description: view.description.string,
            condition: view.condition.string ?? "", path: view.path.string.map { ItemPath(unchecked: $0) },
            localID: view.local_id.string.map { LocalID($0) }, removeWhenNone: view.remove_when_none.string,
            data: view.data.array, revision: view.revision)
    }
}
