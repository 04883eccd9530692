import Model
import Synchronization
import TestSupport
import Testing

@testable import PluginHost

/// Tests of what it costs to keep a plugin's values within their quota.
@Suite struct ValueQuotaTests {
    /// Runs the body with an instance of the plugin whose values take nearly all of their quota.
    private func withWilful(
        mode: String, _ body: @escaping @Sendable (ProcessorCalls, StoredValues) throws -> Void
    ) async throws -> [String] {
        try await withPluginFolder { folder async throws in
            let library = "\(folder.path)/wilful.so"
            try await CompiledPlugin.build("wilful", to: library)
            var settings = PluginSettings(
                id: PluginID("org.example.wilful"), library: library, isolation: .inProcess,
                json: #"{"mode": "\#(mode)"}"#)
            settings.valueQuota = 60 * 1_001 + 1_500
            let host = await folder.load([settings])
            let instances = await host.start(AccountEnvironment(name: "x", logger: folder.log.logger))
            let reasons = await host.reports().map(\.reason)
            let instance = try #require(instances.first, "\(reasons)")
            try await instance.withProcessor { try body($0, StoredValues(count: 60, size: 1_000)) }
            let reason = await host.reports().first { $0.id == settings.id }?.reason
            await host.stop(instances)
            await host.shutDown()
            return folder.log.messages + [reason].compactMap(\.self)
        }
    }

    @Test("G43: to write values in place of others near the quota, each of them is measured once")
    func rewritten() async throws {
        let said = try await withWilful(mode: "rewrite") { calls, stored in
            calls.begin(stored)
            #expect(calls.willEnterTrigger(.timer).isOK)
            #expect(stored.measured <= 70)
            // Another call of the run, after which no value has to be measured but the new one.
            #expect(calls.willEnterTrigger(.timer).isOK)
            #expect(stored.measured <= 72)
            calls.end()
        }
        #expect(said.contains("info: rewritten 60"))
        #expect(said.filter { $0 == "info: added 1" }.count == 2)
    }

    @Test("G43: a call that fails takes no room from the next one; what is above the quota has a count of its own")
    func failed() async throws {
        let said = try await withWilful(mode: "adds and fails") { calls, stored in
            calls.begin(stored)
            for _ in 0..<3 { #expect(!calls.willEnterTrigger(.timer).isOK) }
            calls.end()
        }
        // Each time one of two new values fits.
        #expect(said.filter { $0 == "info: added 1" }.count == 3, "\(said)")
        #expect(said.contains { $0.contains("3 requests above a limit, the first: refused kv.put") }, "\(said)")
        #expect(said.last?.contains("requests above a limit: 3") == true, "\(said)")
        #expect(!said.contains { $0.contains("invalid arguments") })
    }
}

/// A run with stored values that counts how often one is measured.
private final class StoredValues: PluginRun {
    private let sizes: [[UInt8]: Int64]
    private(set) var measured = 0

    init(count: UInt8, size: Int64) {
        sizes = Dictionary(uniqueKeysWithValues: (0..<count).map { ([$0], size + 1) })
    }

    var policies: [ItemPolicy] { [] }
    var began: Timestamp { Timestamp(seconds: 1) }
    func items(_ query: PluginQuery) throws(ServiceError) -> any ItemSource { throw ServiceError(-3, "none") }
    func usage() throws(ServiceError) -> PluginUsage { throw ServiceError(-3, "none") }
    func hasItem(_ localID: LocalID) -> Bool { false }
    func path(of item: LocalID) -> ItemPath? { nil }
    func check(condition: String) {}
    func value(for key: [UInt8]) -> [UInt8]? { nil }
    func valueSize(of key: [UInt8]?) -> Int64 {
        measured += 1
        return key.map { sizes[$0] ?? 0 } ?? sizes.values.reduce(0, +)
    }
    func hasRoom(besides actions: Int) -> Bool { true }
    func mayUpload(besides uploads: Int) -> Bool { true }
    func accept(_ intents: [Intent], during call: StaticString) {}
    func record(_ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields) -> Record? { nil }
    func records(
        in collection: RecordCollection, after key: RecordKey?, _ fields: RecordFields
    ) throws(ServiceError) -> any RecordSource { throw ServiceError(-3, "none") }
}
