import CLarder
import FakeHost
import Glibc
import LarderFakeHost
import Model
import PluginHost

/// A scripted host with one plugin of the library, and what a check gives it.
final class Stage {
    let fake: OpaquePointer
    let access: FakeHostAccess
    private let site: CheckSite
    private(set) var items: [StageItem] = []
    /// The plugin that was started last.
    private var plugin: PluginCase?

    /// The time on the stage unless a check sets another one: 2024-01-01, in nanoseconds since 1970.
    static let now: Int64 = 1_704_067_200_000_000_000
    static let day: Int64 = 86_400_000_000_000

    init(_ site: CheckSite) {
        self.site = site
        fake = site.open()
        access = FakeHostAccess(fake)
        set(now: Self.now)
        larder_fake_room(fake, 40_000_000, 40, 1_000_000_000, 10_000_000_000)
        for grant in ["server-changes"] { larder_fake_grant(fake, grant) }
    }

    deinit { larder_fake_free(fake) }

    /// Why the library cannot be used, or the plugin was not started.
    var problem: String? { larder_fake_problem(fake).map { String(cString: $0) } }

    func set(now: Int64, monotonic: Int64? = nil) {
        larder_fake_time(fake, now, monotonic ?? now - Self.now + Self.day)
    }

    /// Starts a plugin.
    /// - Throws: ``Skipped`` if it does not start; another check says so.
    func start(_ plugin: PluginCase, settings: String = "{}") throws {
        self.plugin = plugin
        larder_fake_settings(fake, settings)
        guard larder_fake_start(fake, plugin.id.text) == LARDER_OK else {
            throw Skipped(reason: "the plugin does not start: \(problem ?? "it says no reason")")
        }
        putPolicies()
        putAnswers()
    }

    func stop() { larder_fake_stop(fake) }

    /// Puts items on the stage.
    func put(_ items: [StageItem]) {
        let items = items.map { item in
            var item = item
            if item.downloadTrigger == StageItem.ownTrigger { item.downloadTrigger = site.ownTrigger }
            return item
        }
        for item in items { item.withView { larder_fake_put_item(fake, $0) } }
        self.items += items
    }

    /// Replaces an item by a changed one.
    func change(at index: Int, _ body: (inout StageItem) -> Void) {
        body(&items[index])
        items[index].withView { larder_fake_put_item(fake, $0) }
    }

    func remove(at index: Int) {
        larder_fake_drop_item(fake, items[index].localID)
        items.remove(at: index)
    }

    /// Makes a run. With `itemsChanged` it is about all items.
    /// - Returns: The status of the first call that failed.
    @discardableResult
    func run(_ trigger: Trigger) -> larder_status {
        let ids = trigger == .itemsChanged ? items.map { strdup($0.localID) } : []
        defer { for id in ids { free(id) } }
        let pointers = ids.map { UnsafePointer($0 ?? strdup("")!) }
        return pointers.withUnsafeBufferPointer { larder_fake_run(fake, trigger.rawValue, $0.baseAddress, $0.count) }
    }

    /// Makes a run of each trigger and a turn of each loop.
    func work() {
        for trigger in triggers { run(trigger) }
        poll()
    }

    /// The triggers that the processor wants, all of which a check goes through.
    var triggers: [Trigger] {
        let mask = access.triggers()
        return Trigger.allCases.filter { mask.contains(TriggerMask($0)) }
    }

    /// Gives the processor policies of its kind: one for a folder that is there, and one for a condition.
    private func putPolicies() {
        guard let kind = access.kind?.text else { return }
        for (id, condition, path) in [
            ("policy-1", #"path.startsWith("/Photos/")"#, "/Photos"), ("policy-2", "favorite", nil),
        ] {
            with([id, kind, condition, path ?? ""]) { texts in
                var policy = larder_policy()
                policy.struct_size = UInt32(MemoryLayout<larder_policy>.size)
                policy.revision = 1
                (policy.id, policy.kind, policy.condition) = (texts[0], texts[1], texts[2])
                if path != nil { policy.path = texts[3] }
                larder_fake_put_policy(fake, &policy)
            }
        }
    }

    // MARK: What came of it

    /// An entry of the record.
    struct Entry: Hashable, Comparable, CustomStringConvertible {
        var kind: UInt32
        var name: String
        var number: UInt32
        var status: larder_status
        var path: String?
        var id: String?
        var text: String?
        var target: String?

        var description: String {
            let parts = [name, path ?? id, target.map { "to \($0)" }]
            return parts.compactMap(\.self).joined(separator: " ")
        }

        static func < (one: Entry, other: Entry) -> Bool {
            (one.kind, one.name, one.path ?? "", one.id ?? "") < (
                other.kind, other.name, other.path ?? "", other.id ?? ""
            )
        }
    }

    func entries(_ kind: UInt32) -> [Entry] {
        (0..<larder_fake_count(fake, kind)).compactMap { index in
            guard let entry = larder_fake_entry_at(fake, kind, index)?.pointee else { return nil }
            func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
            return Entry(
                kind: kind, name: String(cString: entry.name), number: entry.number, status: entry.status,
                path: text(entry.path), id: text(entry.id),
                text: entry.policy.map { condition($0.pointee) } ?? text(entry.text), target: text(entry.target))
        }
    }

    private func condition(_ policy: larder_policy) -> String {
        guard let start = policy.condition.ptr else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(policy.condition.len)), as: UTF8.self)
    }

    /// The requests for actions, policies and records, in their order.
    var requests: [Entry] {
        [LARDER_FAKE_ACTION, LARDER_FAKE_POLICY, LARDER_FAKE_RECORD].flatMap { entries($0) }
    }

    /// The requests for actions, in their order.
    var actions: [Entry] { entries(LARDER_FAKE_ACTION) }

    /// Forgets what came of the runs until now.
    func forget() { larder_fake_forget(fake) }

    /// Throws a finding if the plugin made a mistake.
    /// - Parameter tolerates: Tells which mistakes are none here.
    /// - Parameters:
    ///   - ordinary: Whether mistakes count that the plugin makes in an ordinary run too. One check tells of those.
    ///   - tolerates: Tells which mistakes are none here.
    func expectNoMistake(ordinary: Bool = false, tolerates: (Entry) -> Bool = { _ in false }) throws {
        let known = ordinary ? [] : try site.ordinaryMistakes(of: plugin)
        guard
            let mistake = entries(LARDER_FAKE_MISTAKE).first(where: { entry in
                !tolerates(entry) && !known.contains([entry.name, entry.text ?? "", statusName(entry.status)])
            })
        else { return }
        let status = statusName(mistake.status)
        let what =
            switch mistake.name {
            case "extension": "it asked for \(mistake.text ?? "a service"), which its descriptor does not name"
            case let name where name.hasSuffix("_condition"):
                "\(name) gave a condition that is not valid: \(mistake.text ?? "")"
            default: "\(mistake.name) was \(mistake.name.contains(".") ? "refused" : "answered") with \(status)"
            }
        throw self.finding(what)
    }

    /// A finding with the number of calls until now.
    func finding(_ what: String, advice: String? = nil, item: String? = nil) -> Finding {
        var finding = Finding(what, advice: advice, item: item)
        finding.call = access.returnedCalls
        return finding
    }
}

/// Calls a body with texts that are valid for the call.
func with(_ texts: [String], _ body: ([larder_str]) -> Void) {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    body(zip(copies, texts).map { larder_str(ptr: $0.0, len: UInt64($0.1.utf8.count)) })
}

/// Returns a status by its name in base.h.
func statusName(_ status: larder_status) -> String {
    let names = [
        "LARDER_OK", "LARDER_FAILED", "LARDER_INVALID_ARGUMENT", "LARDER_NOT_FOUND", "LARDER_ALREADY_EXISTS",
        "LARDER_CONFLICT", "LARDER_DENIED", "LARDER_UNSUPPORTED", "LARDER_LIMIT", "LARDER_CANCELLED", "LARDER_IO",
        "LARDER_WRONG_THREAD", "LARDER_WRONG_STATE", "LARDER_INTERNAL",
    ]
    let index = -Int(status)
    return names.indices.contains(index) ? names[index] : "the unknown status \(status)"
}
