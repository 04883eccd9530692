import CLarder
import FoundationEssentials
import Glibc
import LarderFakeHost
import Model
import TestSupport

/// A plugin in the fake host.
final class PluginFixture {
    let fake: OpaquePointer

    struct Asked: Hashable {
        var name: String
        var path: String
        var flags: UInt32
        var key: String
    }

    /// Returns the path of a built plugin of the package. The tests need the built libraries, but do not build them.
    static func library(ofPlugin name: String) throws -> String {
        let folder = ProcessInfo.processInfo.environment["LARDER_TEST_PLUGINS"] ?? "\(Build.root)/.build/debug"
        let library = "\(folder)/lib\(name).so"
        guard Files.exists(library) else {
            throw SetupError("no library at \(library): run `swift build` first, or set LARDER_TEST_PLUGINS")
        }
        return library
    }

    static func opening(plugin name: String) throws -> PluginFixture {
        try PluginFixture(library: library(ofPlugin: name))
    }

    init(library: String) throws {
        fake = larder_fake_open(library)
        try become()
    }

    init(entry: @escaping larder_plugin_entry) throws {
        fake = larder_fake_for(entry)
        try become()
    }

    private func become() throws {
        if let problem { throw SetupError(problem) }
    }

    deinit { larder_fake_free(fake) }

    var problem: String? { larder_fake_problem(fake).map { String(cString: $0) } }

    @discardableResult func start(_ id: String, settings: String = "{}") -> larder_status {
        larder_fake_settings(fake, settings)
        return larder_fake_start(fake, id)
    }

    func stop() { larder_fake_stop(fake) }

    /// Adds items to the fake host. An item with a known id replaces the old one.
    func put(_ new: Item...) {
        for item in new {
            withView(of: item) { larder_fake_put_item(fake, $0) }
        }
    }

    /// Adds an item with claims.
    func put(_ item: Item, claims: UInt32) {
        put(item)
        withView(of: item) { view in
            var view = view.pointee
            view.present |= 1 << UInt64(LARDER_FIELD_CLAIMS)
            view.claims = claims
            larder_fake_put_item(fake, &view)
        }
    }

    func put(_ policies: ItemPolicy...) {
        for policy in policies { withView(of: policy) { larder_fake_put_policy(fake, $0) } }
    }

    func drop(_ policy: ItemPolicy) { larder_fake_drop_policy(fake, policy.id.text) }

    @discardableResult func run(_ trigger: Trigger, _ changed: Item...) -> larder_status { run(trigger, changed) }

    @discardableResult func run(_ trigger: Trigger, _ changed: [Item]) -> larder_status {
        let ids = changed.compactMap { strdup($0.localID.text) }
        defer { for id in ids { free(id) } }
        return ids.map { UnsafePointer($0) }.withUnsafeBufferPointer {
            larder_fake_run(fake, trigger.rawValue, $0.baseAddress, $0.count)
        }
    }

    func entries<Result>(_ kind: UInt32, _ read: (larder_fake_entry) -> Result) -> [Result] {
        (0..<larder_fake_count(fake, kind)).compactMap { larder_fake_entry_at(fake, kind, $0).map { read($0.pointee) } }
    }

    func explanation(of item: Item) -> String? {
        larder_fake_explain(fake, item.localID.text).map { String(cString: $0) }
    }

    /// The calls of the plugin as `perform_action /a`, oldest first.
    var calls: [String] {
        entries(LARDER_FAKE_CALL) {
            String(cString: $0.name) + ($0.path.map { " " + String(cString: $0) } ?? "")
        }
    }

    var actions: [Asked] {
        entries(LARDER_FAKE_ACTION) {
            Asked(
                name: String(cString: $0.name), path: $0.path.map { String(cString: $0) } ?? "", flags: $0.number,
                key: $0.text.map { String(cString: $0) } ?? "")
        }
    }

    /// The paths at which the requested actions make something, without those that make nothing.
    var targets: [String] {
        entries(LARDER_FAKE_ACTION) { $0.target.map { String(cString: $0) } }.compactMap(\.self)
    }

    func paths(_ action: String) -> [String] { actions.filter { $0.name == action }.map(\.path) }

    /// The flags of each policy change that the plugin requested.
    var policyChanges: [UInt32] { entries(LARDER_FAKE_POLICY) { $0.number } }
    var mistakes: [String] { entries(LARDER_FAKE_MISTAKE) { "\(String(cString: $0.name)) \($0.status)" } }
    var failures: [String] { entries(LARDER_FAKE_FAILURE) { $0.text.map { String(cString: $0) } ?? "" } }
    var logLines: [String] { entries(LARDER_FAKE_LOG) { $0.text.map { String(cString: $0) } ?? "" } }
    var warnings: [String] {
        entries(LARDER_FAKE_LOG) { ($0.number, $0.text.map { String(cString: $0) } ?? "") }
            .filter { $0.0 == LARDER_LOG_WARNING }.map(\.1)
    }
    var queries: [String] { entries(LARDER_FAKE_QUERY) { $0.text.map { String(cString: $0) } ?? "" } }
    func forget() { larder_fake_forget(fake) }

    var policies: [ItemPolicy] {
        (0..<larder_fake_policy_count(fake)).compactMap {
            larder_fake_policy_at(fake, $0).map { ItemPolicy($0.pointee) }
        }
    }

    func value(of key: String) -> String? {
        larder_fake_value(fake, key).map {
            String(decoding: UnsafeBufferPointer(start: $0.pointee.ptr, count: Int($0.pointee.len)), as: UTF8.self)
        }
    }
}

extension String {
    init(_ text: larder_str) {
        self.init(decoding: UnsafeRawBufferPointer(start: text.ptr, count: Int(text.len)), as: UTF8.self)
    }
}
