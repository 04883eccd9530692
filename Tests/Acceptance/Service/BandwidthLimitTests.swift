import Glibc
import TestSupport
import Testing

/// `limits.bandwidth`, with Apache. No test says how fast anything has to be.
@Suite(.serialized) struct BandwidthLimitTests {
    private static func settings(_ bandwidth: String?) -> [String] {
        ["poll: 1h"] + (bandwidth.map { ["limits: { bandwidth: { \($0) } }"] } ?? [])
    }

    private func withAccount(
        _ bandwidth: String, _ files: [String: Int], _ body: (Account, RealServer) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.makeFolder(data)
            for (name, size) in files { try make("\(data)/\(name)", size) }
            try await withServer(.apache, data: data, options: Account.withLogin) { server in
                let account = try Account(in: folder, server, settings: Self.settings(bandwidth))
                let first = try await account.larder("run", "--once")
                #expect(first.exitCode == 0, "\(first.summary)")
                try await server.forgetRequests()
                try await body(account, server)
            }
        }
    }

    /// Makes a file of zeros that takes no room.
    private func make(_ path: String, _ size: Int) throws {
        try Files.write("", to: path)
        guard truncate(path, size) == 0 else { throw SetupError("cannot lengthen \(path)") }
    }

    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Takes the limits out of the config and has the host read it.
    private func unlimit(_ account: Account, _ server: RealServer) async throws {
        _ = try Account(in: account.folder, server, settings: Self.settings(nil))
        let reloaded = try await account.larder("reload")
        #expect(reloaded.exitCode == 0 && reloaded.output == "home unchanged\n", "\(reloaded.summary)")
    }

    @Test("S37: at 1 MB a second files take their time, in both directions")
    func times() async throws {
        let names = ["a", "b", "c"]
        try await withAccount("up: 1MB, down: 1MB", Dictionary(uniqueKeysWithValues: names.map { ($0, 600_000) })) {
            account, server in
            let began = ContinuousClock.now
            let got = try await account.larder("get", "/")
            #expect(got.exitCode == 0, "\(got.summary)")
            // A burst of a quarter of a second is free.
            #expect(ContinuousClock.now - began >= .milliseconds(1_500))
            #expect(try await account.difference(from: server.data) == "")

            let mine = "\(account.folder)/mine"
            try make(mine, 1_800_000)
            let begun = ContinuousClock.now
            let put = try await account.larder("put", mine, "/mine")
            #expect(put.exitCode == 0, "\(put.summary)")
            #expect(ContinuousClock.now - begun >= .milliseconds(1_500))
            #expect(size("\(server.data)/mine") == 1_800_000)
        }
    }

    @Test("S37: a reload takes the limit from a download under way, which goes on without another request")
    func download() async throws {
        // At this limit it takes ten minutes.
        try await withAccount("down: 100kB", ["large": 60_000_000]) { account, server in
            let host = try account.larder.start(["run"], errors: "\(account.folder)/log")
            _ = try await account.untilCommanded(host)
            try await account.untilOnline(host, log: "\(account.folder)/log")
            #expect(try await account.larder("get", "--queue", "/large").exitCode == 0)
            try await soon("some of it is here", beside: host, log: "\(account.folder)/log") {
                try Files.filesBelow("\(account.vault)/incoming").contains {
                    size("\(account.vault)/incoming/\($0)") > 0
                }
            }
            try await unlimit(account, server)
            try await soon("all of it is here", beside: host, log: "\(account.folder)/log") {
                size("\(account.files)/large") == 60_000_000
            }
            let gets = try await server.requests().filter { $0.method == "GET" && $0.path == "/large" }
            #expect(gets.map(\.bytes) == [60_000_000] && gets.map(\.range) == [nil], "\(gets)")
            #expect(await host.stop() == .code(0))
        }
    }

    @Test("S37: a reload takes the limit from an upload under way, which goes on without another request")
    func upload() async throws {
        try await withAccount("up: 100kB", [:]) { account, server in
            let log = "\(account.folder)/log"
            let host = try account.larder.start(["run"], errors: log)
            _ = try await account.untilCommanded(host)
            try await account.untilOnline(host, log: log)
            let mine = "\(account.folder)/mine"
            try make(mine, 60_000_000)
            let put = try account.larder.start(["put", mine, "/mine"], errors: "\(account.folder)/put.log")
            // Apache writes into a file beside the new one.
            try await soon("some of it is there", beside: host, log: log) {
                try Files.filesBelow(server.data).contains { size("\(server.data)/\($0)") > 0 }
            }
            #expect(size("\(server.data)/mine") == 0 && !put.hasEnded)
            try await unlimit(account, server)
            let ended = await put.wait(atMost: .seconds(300))
            let said = try Files.text("\(account.folder)/put.log")
            #expect(ended == .code(0), "\(said)")
            #expect(size("\(server.data)/mine") == 60_000_000)
            let puts = try await server.requests().filter { $0.method == "PUT" }
            #expect(puts.count == 1, "\(puts)")
            #expect(await host.stop() == .code(0))
        }
    }
}
