import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import PluginHost

@Suite struct WatchTests {
    @Test("GL5: a native call that does not return is named once, and another plugin goes on beside it")
    func hanging() async throws {
        try await withPluginFolder { folder in
            let (fatal, until) = (PluginID("org.example.fatal"), "\(folder.path)/until")
            for name in ["fatal", "variant"] { try await CompiledPlugin.build(name, to: "\(folder.path)/\(name).so") }
            let seconds = Mutex(0)
            let clock = HostClock(
                now: { Timestamp(seconds: 0) }, monotonic: { .seconds(seconds.withLock { $0 }) },
                sleep: { _ in
                    let now = seconds.withLock { value in
                        value += 1
                        return value
                    }
                    if now > 200 { throw CancellationError() }
                })
            let host = await folder.load(
                [
                    PluginSettings(
                        id: fatal, library: "\(folder.path)/fatal.so", isolation: .inProcess,
                        json: #"{"does": "hang", "in": "match", "until": "\#(until)"}"#),
                    PluginSettings(
                        id: PluginFolder.variant, library: "\(folder.path)/variant.so", isolation: .inProcess),
                ], clock: clock)
            let instances = await host.start(AccountEnvironment(name: "x", logger: folder.log.logger))
            let hanging = try #require(instances.first { $0.plugin == fatal })
            let other = try #require(instances.first { $0.plugin == PluginFolder.variant })
            let call = Task { try await hanging.withProcessor { $0.condition(.match, .timer) } }
            await TestSupport.until { hanging.context.callCount.load(ordering: .relaxed) % 2 == 1 }
            await host.watch()
            let named = folder.log.messages.filter { $0.contains(" hangs: ") }
            #expect(
                named.count == 1 && named[0].contains("\(fatal) hangs: matchCondition has not returned"), "\(named)")
            try await other.withProcessor { _ = $0.didPassTrigger(.timer) }
            #expect(hanging.context.callCount.load(ordering: .relaxed) % 2 == 1)
            // No caller waits for the hanging call any longer, and no other call is admitted behind it.
            await #expect(throws: PluginHangs.self) { try await call.value }
            await #expect(throws: PluginHangs.self) { try await hanging.withProcessor { _ = $0.triggers() } }
            try Files.write("", to: until)
            await TestSupport.until { hanging.hanging == nil }
            #expect(try await hanging.withProcessor { $0.condition(.match, .timer) } == #"type == "file""#)
            await host.stop(instances)
            let ours = await host.reports().filter { $0.id == fatal || $0.id == PluginFolder.variant }
            #expect(ours.map(\.state) == [.stopped, .stopped])
            await host.shutDown()
        }
    }

    @Test("The plugins of an account are stopped together, so that none waits for one that takes long")
    func together() async throws {
        try await withPluginFolder { folder in
            var plugins: [PluginSettings] = []
            let untils = ["one", "two"].map { "\(folder.path)/\($0)" }
            for (name, until) in zip(["one", "two"], untils) {
                let id = "org.example.\(name)"
                try await CompiledPlugin.build(
                    "fatal", to: "\(until).so", defines: ["ID=\"\(id)\"", "KIND=\"\(name)\""])
                plugins.append(
                    PluginSettings(
                        id: PluginID(id), library: "\(until).so", isolation: .inProcess,
                        json: #"{"does": "hang", "in": "stop", "until": "\#(until)"}"#))
            }
            let host = await folder.load(plugins)
            let instances = await host.start(
                AccountEnvironment(name: "x", logger: folder.log.logger, clock: TestClock().host))
            try #require(instances.count == 2, "\(folder.log.messages)")
            let stopping = Task { await host.stop(instances) }
            for until in untils { await TestSupport.until(atMost: .seconds(60)) { Files.exists("\(until).begun") } }
            #expect(untils.allSatisfy { Files.exists("\($0).begun") })
            for until in untils { try Files.write("", to: until) }
            await stopping.value
            #expect(await host.givenUpCalls().isEmpty)
            await host.shutDown()
        }
    }
}
