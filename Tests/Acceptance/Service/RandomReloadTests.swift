import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// Reloads at random moments while the accounts are at work.
@Suite(.serialized) struct RandomReloadTests {
    /// A line of a trace.
    private struct Line: Decodable {
        var plugin: String
        var call: String?
        var path: String?
        var phase: String?
        var status: String?
    }

    /// Returns the lines of the calls of a plugin that began while another call for the same account was under way, each
    /// with the other's line. The name of each file tells its account.
    private func overlaps(_ trace: String) throws -> [String] {
        var underWay: [String: Substring] = [:]
        var overlaps: [String] = []
        for text in try Files.text(trace).split(separator: "\n") {
            let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
            // The root has the same path in each account.
            guard let account = line.path?.split(separator: "-").first, line.path != "/", line.call != nil else {
                continue
            }
            let key = "\(line.plugin)\(account)"
            if line.phase == "begin" {
                if let other = underWay.updateValue(text, forKey: key) { overlaps.append("\(text) in \(other)") }
            } else if line.status != nil {
                underWay[key] = nil
            }
        }
        return overlaps
    }

    /// The number of reloads is `LARDER_TEST_ROUNDS`.
    @Test(
        "H8: reloads at random moments, some with mistakes: nothing is lost or done twice, and the last config holds",
        arguments: [false, true])
    func reloads(switchesPlugins: Bool) async throws {
        var random = SeededGenerator()
        let comment: Comment = "LARDER_TEST_SEED=\(random.seed)"
        let names = ["still", "one", "two", "three"]
        try await SeveralAccounts.running(names) { accounts in
            for name in names { #expect(try await accounts.larder("--account", name, "pin", "/").exitCode == 0) }
            var (present, vacuum) = (Set(names.dropFirst()), true)
            var changes: [String: [String]] = [:]
            var files = 0
            func write(mistake: [String] = []) throws {
                var settings: [String] = []
                if switchesPlugins {
                    settings = ["plugins: { vacuum: { enabled: \(vacuum) }, core-loop: { enabled: \(vacuum) } }"]
                }
                try accounts.write(
                    ["still"] + present.sorted(), more: changes, settings: settings + mistake)
            }
            func put() {
                files += 1
                let bytes = Array(repeating: UInt8(files % 251), count: Int.random(in: 1...100_000, using: &random))
                for name in names { accounts[name].tree.put("/\(name)-\(files)", bytes) }
            }
            try write()
            put()
            let (receiver, trace) = (try NotifyReceiver("\(accounts.folder)/notify"), "\(accounts.folder)/trace")
            let host = try accounts.start("--trace", trace, receiver: receiver)
            try await soon("it is ready", beside: host, log: accounts.log) { receiver.count("READY=1") == 1 }
            for round in 0..<SeededGenerator.rounds(usually: 40) {
                put()
                var mistake: [String] = []
                switch round == 0 ? 5 : Int.random(in: 0..<6, using: &random) {
                case 0: if let name = present.randomElement(using: &random) { present.remove(name) }
                case 1: if let name = names.dropFirst().randomElement(using: &random) { present.insert(name) }
                case 2, 3:
                    guard let name = names.dropFirst().randomElement(using: &random) else { break }
                    changes[name] = changes[name] == nil ? ["local-changes: ignore"] : nil
                case 4: vacuum.toggle()
                default: mistake = ["nosuch: 1"]
                }
                // What a mistake stands beside is not applied; the next config without one has it too.
                try write(mistake: mistake)
                host.send(SIGHUP)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...150, using: &random)))
            }
            try write()
            put()
            host.send(SIGHUP)
            let working = ["still"] + present.sorted()
            try await soon("the last config holds", beside: host, log: accounts.log) {
                receiver.status == working.sorted().map { "\($0): online" }.joined(separator: "; ")
            }
            for name in working {
                for file in 1...files {
                    try await soon("\(name) has all", beside: host, log: accounts.log) {
                        try accounts.text(name, "\(name)-\(file)") != nil
                    }
                }
            }
            if !switchesPlugins {
                let gets = accounts["still"].requests.filter { $0.method == "GET" && $0.path.hasPrefix("/still-") }
                #expect(gets.count == files && Set(gets.map(\.path)).count == files, comment)
                #expect(gets.allSatisfy { $0.status == 200 && $0.range == nil }, comment)
                #expect(try accounts.results.allSatisfy { !$0.contains("still restarted") }, comment)
            }
            let log = try Files.text(accounts.log)
            let overlaps = try overlaps(trace)
            let hangs = log.split(separator: "\n").filter { $0.contains("hangs") }
            #expect(overlaps.isEmpty, "\(overlaps.joined(separator: "\n"))\n\(hangs)\n\(comment)")
            #expect(!log.contains("locked") && log.contains("there is no setting `nosuch`"), comment)
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0), comment)
        }
    }
}
