import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// Numbers that make no sense, from a server and in a vault. They end nothing, and correct values work again
/// afterwards.
@Suite(.serialized) struct OutsideNumbersTests {
    private static let numbers = [
        "", "-1", "NaN", "9007199254740992", "9223372036854775807", "9223372036854775808",
        "1000000000000000000000000000000",
    ]
    private static let dates = [
        "Thu, 01 Jan 0000 00:00:00 GMT", "Tue, 21 Sep 1677 00:12:43 GMT", "Fri, 11 Apr 2262 23:47:17 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
    ]

    private func expectAlive(_ result: ProcessResult) {
        #expect([0, 1, 69, 74, 76].contains(result.exitCode), "\(result.summary)")
        #expect(!result.errors.contains("Fatal"), "\(result.summary)")
    }

    @Test("H12: sizes, dates, waits and quotas of any number end no run, and the account goes on afterwards")
    func server() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                server.tree.put("/F/b", "two")
                let settings = [
                    "plugins:", "  download-expiration: { enabled: true, keep-below: 1kB, keep-free: 1kB }",
                ]
                var account = try Account(in: folder, server, settings: settings)
                account.larder.hasLoops = true
                #expect(try await account.larder("pin", "/").exitCode == 0)
                for (index, number) in Self.numbers.enumerated() {
                    let date = Self.dates[index % Self.dates.count]
                    let listed = server.add(
                        Fault(
                            .properties([
                                "getcontentlength": number, "size": number, "getlastmodified": date, "fileid": number,
                                "quota-used-bytes": number, "quota-available-bytes": number,
                            ]), method: "PROPFIND"))
                    let answered = server.add(
                        Fault(.fields(["Date": date, "Last-Modified": date, "Retry-After": number])))
                    server.behave { manner in
                        manner.quota = Int(number) ?? .max
                        manner.pollInterval = Int(number) ?? .max
                    }
                    server.tree.put("/F/new\(index)", "three")
                    expectAlive(try await account.larder("run", "--once", "--timeout", "5s"))
                    expectAlive(try await account.larder("status"))
                    expectAlive(try await account.larder("ls", "-r", "/"))
                    server.remove(listed)
                    server.remove(answered)
                }
                server.behave { ($0.quota, $0.pollInterval) = (10 << 30, nil) }
                server.tree.put("/F/last", "four")
                let last = try await account.larder("run", "--once")
                // A file whose length differs from the listed one may wait for its next attempt.
                expectAlive(last)
                #expect(try account.text("F/last") == "four")
                #expect(try account.text("a") == "one")
            }
        }
    }

    @Test("H12: a wished interval of 9e12 ms is a day, and the next poll is tomorrow at the latest")
    func wish() async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            configuration.manner.pollInterval = 9_000_000_000_000
            try await TestServer.running(configuration) { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server)
                let host = try account.larder.start(["run"])
                var next: Substring?
                try await soon("the next poll is planned", beside: host) {
                    let status = try await account.larder("--json", "status").output
                    next = status.firstMatch(of: /"nextPoll":"([0-9-]+)/)?.1
                    return next != nil
                }
                await host.stop()
                let day = Date.ISO8601FormatStyle(dateSeparator: .dash).year().month().day()
                let tomorrow = Date.now.addingTimeInterval(86_400)
                #expect(next.map(String.init) == tomorrow.formatted(day), "\(next ?? "none")")
            }
        }
    }

    @Test("H12: copies and calendars whose times are past 2262 are kept, and nothing is lost for it")
    func times() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for name in ["a", "b"] { server.tree.put("/\(name)", "one") }
                server.calendars.make("work")
                let event = ["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:x", "END:VEVENT", "END:VCALENDAR", ""]
                server.calendars.put("x.ics", event.joined(separator: "\r\n"), in: "work")
                var account = try Account(in: folder, server)
                account.larder.hasLoops = true
                #expect(try await account.larder("pin", "/").exitCode == 0)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                for (index, seconds) in [9_223_372_036, 9_223_372_037, 15_000_000_000, -9_223_372_037].enumerated() {
                    for file in try Files.filesBelow(account.vault) where !file.hasPrefix("larder.db") {
                        var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
                        #expect(utimensat(AT_FDCWD, "\(account.vault)/\(file)", &times, 0) == 0)
                    }
                    server.tree.put("/a", "version \(index)")
                    let result = try await account.larder("run", "--once")
                    #expect(result.exitCode == 0, "\(result.summary)")
                    #expect(try account.text("a") == "version \(index)" && account.text("b") == "one")
                }
            }
        }
    }
}
