import Model
import TestSupport
import Testing

@testable import PluginHost

/// Tests of the report about a plugin that is refused for one account and runs for another.
@Suite struct RefusedForAccountTests {
    /// Runs the body with a host that has the plugin, and the environments of an account for which the plugin is refused,
    /// and of one for which it is not.
    private func withAccounts(
        _ body: (PluginHost, _ refused: AccountEnvironment, _ other: AccountEnvironment) async throws -> Void
    ) async throws {
        try await withPluginFolder { folder async throws in
            let library = "\(folder.path)/v.so"
            try await CompiledPlugin.build("variant", to: library)
            let host = await folder.load([
                PluginSettings(id: PluginFolder.variant, library: library, isolation: .inProcess)
            ])
            var held = HeldLibraries()
            held.add([try #require(crash(in: library))], now: HostClock.system.now())
            let refused = AccountEnvironment(name: "refused", logger: folder.log.logger, held: held)
            try await body(host, refused, AccountEnvironment(name: "other", logger: folder.log.logger))
            await host.shutDown()
        }
    }

    /// Returns the note that a crash leaves in a record.
    private func crash(in library: String) -> CallNote? {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: CallBoard.recordSize, alignment: 64)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: CallBoard.recordSize)
        let record = CallRecord(
            memory.assumingMemoryBound(to: CallRecord.Call.self), on: nil, plugin: PluginFolder.variant,
            library: library)
        record.begin("performAction", .nothing)
        memory.storeBytes(of: 4, as: UInt32.self)
        memory.storeBytes(of: HostClock.system.now().nanoseconds, toByteOffset: 8, as: Int64.self)
        return CallNote(reading: UnsafeRawPointer(memory))
    }

    private func report(_ host: PluginHost) async throws -> PluginReport {
        try #require(await host.reports().first { $0.id == PluginFolder.variant })
    }

    @Test(
        "G17: a plugin that is refused for one account is reported as refused, whichever account starts first",
        arguments: [true, false])
    func bothOrders(isRefusedFirst: Bool) async throws {
        try await withAccounts { host, refused, other async throws in
            var instances: [PluginInstance] = []
            for account in isRefusedFirst ? [refused, other] : [other, refused] {
                instances += await host.start(account)
            }
            #expect(instances.map(\.account.name) == ["other"])
            #expect(try await report(host).state == .running)
            await host.stop(instances)
            let left = try await report(host)
            #expect(left.state == .refused && left.reason?.hasPrefix("left out until") == true && left.advice != nil)
            // It is refused no longer.
            let again = await host.start(AccountEnvironment(name: "refused", logger: other.logger))
            await host.stop(again)
            #expect(try await report(host).state == .stopped)
        }
    }

    @Test("G17: an account that leaves takes its refusal with it", arguments: [true, false])
    func leaves(whileOthersRun: Bool) async throws {
        try await withAccounts { host, refused, other async throws in
            let instances = await host.start(other)
            #expect(await host.start(refused).isEmpty)
            if !whileOthersRun { await host.stop(instances) }
            await host.forget(account: "refused")
            await host.forget(account: "refused")
            #expect(try await report(host).state == (whileOthersRun ? .running : .stopped))
            if whileOthersRun { await host.stop(instances) }
            let left = try await report(host)
            #expect(left.state == .stopped && left.reason == nil && left.advice == nil)
        }
    }

    @Test("G17: an account in which the plugin is disabled takes its refusal with it")
    func disabled() async throws {
        try await withAccounts { host, refused, other async throws in
            let instances = await host.start(other)
            #expect(await host.start(refused).isEmpty)
            let override = PluginOverride(isEnabled: false)
            let disabled = AccountEnvironment(
                name: "refused", logger: other.logger, overrides: [PluginFolder.variant: override])
            #expect(await host.start(disabled).isEmpty)
            await host.stop(instances)
            #expect(try await report(host).state == .stopped)
        }
    }
}
