import Database
import ItemList
import ItemPolicies
import Model
import SyncEngine
import Synchronization
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("A processor with a maximum of records, end to end")
struct PacingTests {
    // spec: P15
    @Test(
        "P14, P15: of 103 files no more than the maximum are under way, and 3 that always fail do not stop the others")
    func failing() async throws {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/paced.so"
            try await CompiledPlugin.build("wilful", to: library, defines: ["MAX_RECORDS=2"])
            let plugin = PluginID("org.example.wilful")
            let settings = Settings(plugins: [
                PluginSettings(
                    id: plugin, library: library, isolation: .inProcess,
                    json: #"{"match": "type == 'file' && cloudStatus == 'cloudOnly'"}"#)
            ])
            try await AccountFixture.running(settings: settings, clock: .account(patience: .seconds(15))) { fixture in
                let paths = (0..<103).map { "/d/\(100 + $0)" }
                for path in paths { fixture.put(path, path) }
                let failing = [paths[0], paths[1], paths[50]]
                for path in failing { fixture.server.add(Fault(.status(500), method: "GET", path: path)) }
                let host = try await fixture.ready()
                let most = Mutex(0)
                host.database.setCommitObserver { summary in
                    host.policies.databaseChanged(summary)
                    if summary.recordsChanged || summary.changesItems { host.engine.wake() }
                    guard summary.recordsChanged else { return }
                    do {
                        // A record whose wait is over, such as that of a file that fails, comes beside those that were
                        // requested meanwhile.
                        let underWay = try host.database.readBlocking { reads in
                            var count = 0
                            try reads.journal.each { record in
                                let isFirst = !failing.contains(record.path.text)
                                if record.state == .processing, isFirst { count += 1 }
                                return true
                            }
                            return count
                        }
                        most.withLock { $0 = max($0, underWay) }
                    } catch {
                        most.withLock { $0 = .max }
                    }
                }
                let outcome = await host.runOnce()
                #expect(outcome.worst == .failed, "\(outcome.failures)")
                #expect(try fixture.tree().filter { !$0.hasSuffix("/") } == paths.filter { !failing.contains($0) })
                #expect(outcome.issues.map(\.subject).sorted() == failing)
                #expect(most.withLock { $0 } == 2)
            }
        }
    }
}
