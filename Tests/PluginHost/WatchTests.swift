import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import PluginHost

@Suite struct WatchTests {
    @Test("GL5: a call that does not return is named once, for as long as it hangs")
    func hanging() async throws {
        try await withPluginFolder { folder in
            let library = "\(folder.path)/v.so"
            try await CompiledPlugin.build("variant", to: library)
            let seconds = Mutex(0)
            let clock = HostClock(
                now: { Timestamp(seconds: 0) }, monotonic: { .seconds(seconds.withLock { $0 }) },
                sleep: { _ in
                    let now = seconds.withLock { value in
                        value += 1
                        return value
                    }
                    if now > 100 { throw CancellationError() }
                })
            let host = PluginHost(
                builtIn: "\(folder.path)/none",
                settings: Settings(plugins: [
                    PluginSettings(id: PluginFolder.variant, library: library, isolation: .inProcess)
                ]), probe: PluginFolder.probe, memory: nil, clock: clock, logger: folder.log.logger)
            await host.load()
            let instances = await host.start(AccountEnvironment(name: "x", logger: folder.log.logger))
            let instance = try #require(instances.first)
            // As if a call were under way.
            instance.context.callCount.add(1, ordering: .relaxed)
            await host.watch()
            #expect(folder.log.messages.filter { $0.contains("org.example.variant hangs") }.count == 1)
            instance.context.callCount.add(1, ordering: .relaxed)
            await host.stop(instances)
            #expect(await host.reports().first { $0.id == PluginFolder.variant }?.state == .stopped)
            await host.shutDown()
        }
    }
}
