import DemoServer
import FoundationEssentials
import Glibc
import Model
import TestServer
import TestSupport
import Testing

/// `larder watch` and the query on the control socket, beside a running host.
@Suite struct WatchTests {
    /// The list that the lines of `larder --json watch` come to, by paths, and the last state.
    private func replay(_ text: String) throws -> (paths: [String], state: String) {
        var (paths, state): ([String], String) = ([], "")
        for line in text.split(separator: "\n") {
            let told = try JSONValue(parsing: String(line))
            if told["anew"] == .bool(true) { paths = [] }
            func entries(_ name: String) -> [(path: String, position: Int, old: Int)] {
                guard case .array(let items)? = told["changeSet"]?[name] else { return [] }
                return items.compactMap { item in
                    guard case .string(let path)? = item["path"], case .integer(let position)? = item["position"] else {
                        return nil
                    }
                    let old: Int64 = if case .integer(let old)? = item["oldPosition"] { old } else { -1 }
                    return (path, Int(position), Int(old))
                }
            }
            let leaving = entries("removed").map(\.position) + entries("moved").map(\.old)
            for position in leaving.sorted(by: >) { paths.remove(at: position) }
            for entry in (entries("inserted") + entries("moved")).sorted(by: { $0.position < $1.position }) {
                paths.insert(entry.path, at: entry.position)
            }
            for entry in entries("updated") { paths[entry.position] = entry.path }
            if case .string(let name)? = told["state"] { state = name }
        }
        return (paths, state)
    }

    @Test(
        "U1 U3 U12: a watch lists what is known without a server, then what it finds there, and each change in its place"
    )
    func changes() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a%41", "1")
                server.tree.put("/c", "333")
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                let log = "\(folder)/log"
                #expect(try await account.larder("watch").exitCode == 69)
                let host = try account.larder.start(["run"], errors: log)
                _ = try await account.untilCommanded(host)
                let shown = "\(folder)/shown"
                let watch = try account.larder.start(["--json", "watch", "--sort", "size", "/"], output: shown)
                func until(_ paths: [String], _ state: String = "idle") async throws {
                    try await soon("\(paths), \(state)", beside: watch, log: shown) {
                        let (list, told) = try replay(Files.text(shown))
                        return list == paths && told == state
                    }
                }
                try await until(["/a%41", "/c"])
                server.tree.put("/b", "22")
                try await until(["/a%41", "/b", "/c"])
                server.tree.put("/a%41", "4444")
                try await until(["/b", "/c", "/a%41"])
                #expect(try await account.larder("mv", "/c", "/d").exitCode == 0)
                try await until(["/b", "/d", "/a%41"])
                #expect(try await account.larder("rm", "/b").exitCode == 0)
                try await until(["/d", "/a%41"])

                let fault = server.add(Fault(.status(503)))
                try await until(["/d", "/a%41"], "contentsFromCache")
                server.remove(fault)
                try await until(["/d", "/a%41"])
                let folder = try account.larder.start(["watch", "/new"], output: "\(shown)2")
                try await soon("it is told", beside: folder, log: "\(shown)2") {
                    try Files.text("\(shown)2").contains("it is not there")
                }
                #expect(try await account.larder("mkdir", "/new").exitCode == 0)
                server.tree.put("/new/é", "5")
                try await soon("it is told", beside: folder, log: "\(shown)2") {
                    try Files.text("\(shown)2").contains("+ cloudOnly        /new/é")
                }
                #expect(await folder.stop() == .code(0))
                #expect(await host.stop() == .code(0))
                #expect(await watch.wait(atMost: .seconds(60)) == .code(1))
            }
        }
    }

    @Test(
        "U3: the socket's query reads like any event stream, and tells what it cannot read; a reload goes on with the list anew"
    )
    func socket() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "1")
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                let socket = try await account.untilCommanded(host)
                func ask(_ parameters: String) async throws -> ProcessResult {
                    try await TestSupport.run(
                        "curl",
                        [
                            "-sS", "--max-time", "60", "--unix-socket", socket,
                            "http://larder/v1/accounts/home/query\(parameters)",
                        ])
                }
                for (parameters, words) in [
                    ("?where=size%20%3E", "column"), ("?limit=-1", "limit"), ("?colour=red", "colour"),
                    ("?path=/a&path=/b", "twice"), ("?path=/a&item=/a", "only one"), ("?sort=shares", "property"),
                    ("?removed=maybe", "removed"), ("?refresh=2", "refresh"), ("?refresh=1&refresh=1", "twice"),
                ] {
                    let said = try await ask(parameters)
                    #expect(
                        said.output.contains(#""error":"#) && said.output.contains(words),
                        "\(parameters) \(said.summary)")
                }
                let item = try await TestSupport.run(
                    "curl",
                    [
                        "-sS", "--max-time", "3", "--unix-socket", socket,
                        "http://larder/v1/accounts/home/query?item=/a",
                    ])
                #expect(item.exitCode == 28 && item.output.contains(#""path":"/a""#), "\(item.summary)")
                #expect(!item.output.contains(#""anew":true"#))
                // A client that connects again has a list, which it is told to drop.
                let again = try await TestSupport.run(
                    "curl",
                    [
                        "-sS", "--max-time", "3", "--unix-socket", socket, "-H", "Last-Event-ID: 1:1",
                        "http://larder/v1/accounts/home/query?item=/a",
                    ])
                let first = try #require(again.lines.first { $0.hasPrefix("data: ") }, "\(again.summary)")
                #expect(first.contains(#""anew":true"#) && first.contains(#""path":"/a""#), "\(again.summary)")
                let shown = "\(folder)/shown"
                let stream = try ChildProcess(
                    "curl",
                    [
                        "-sS", "--no-buffer", "--unix-socket", socket,
                        "http://larder/v1/accounts/home/query?recursive=1&where=type%20%3D%3D%20'file'",
                    ], output: shown)
                try await soon("the list", beside: stream, log: shown) {
                    let text = try Files.text(shown)
                    return text.contains("event: changeSet\ndata: {") && text.contains(#""path":"/a""#)
                        && text.contains(#""state":"idle""#)
                }
                let config = try Files.text(account.larder.config)
                try Files.write(
                    config.replacing("poll: 1s", with: "poll: 2s"), to: account.larder.config, mode: 0o600)
                #expect(try await account.larder("reload").exitCode == 0)
                server.tree.put("/b", "2")
                try await soon("a change after the reload", beside: stream, log: shown) {
                    try Files.text(shown).contains(#""path":"/b""#)
                }
                stream.send(SIGKILL)
                _ = await stream.wait()
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test("U1: a watch with --refresh, and the socket's refresh=1, have the folder listed between two polls")
    func refresh() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["one", "two"] { server.tree.put("/\(name)/a", "1") }
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                let log = "\(folder)/log"
                let host = try account.larder.start(["run"], errors: log)
                try await account.untilOnline(host, log: log)
                for name in ["one", "two"] { server.tree.put("/\(name)/b", "2") }
                let socket = try await account.untilCommanded(host)
                // The host has listed both folders when it began, and does not list them again within ten seconds.
                try await soon("the new file is told on the socket", beside: host, log: log) {
                    let told = try await TestSupport.run(
                        "curl",
                        [
                            "-sS", "--max-time", "2", "--unix-socket", socket,
                            "http://larder/v1/accounts/home/query?path=/one&refresh=1",
                        ])
                    return told.output.contains(#""path":"/one/b""#)
                }
                let shown = "\(folder)/shown"
                let watch = try account.larder.start(["--json", "watch", "--refresh", "/two"], output: shown)
                try await soon("the new file is told", beside: watch, log: shown) {
                    let (list, told) = try replay(Files.text(shown))
                    return list == ["/two/a", "/two/b"] && told == "idle"
                }
                #expect(await watch.stop() == .code(0))
                #expect(await host.stop() == .code(0))
            }
        }
    }
}
