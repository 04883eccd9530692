import FoundationEssentials
import TestSupport
import Testing

/// Tests of the sample with event loops for address books, built with the installed SDK.
@Suite struct ContactsSampleTests {
    /// An account whose only event loops are the sample's.
    private struct Contacts {
        let server: CalendarServer
        let account: Account

        init(in folder: String, _ server: CalendarServer, library: String) throws {
            self.server = server
            let plugin = "{ enabled: true, library: \"\(library)\", isolation: in-process }"
            account = try Account(
                in: folder, url: server.url, user: server.user.name, password: server.user.password,
                settings: [
                    "plugins:", "  org.example.address-books: \(plugin)", "  org.example.contacts: \(plugin)",
                ])
        }

        /// Runs once, and returns the requests that the server got.
        func runOnce() async throws -> [LoggedRequest] {
            let before = try await server.requests().count
            let ran = try await account.larder("run", "--once")
            #expect(ran.exitCode == 0, "\(server.program) \(ran.summary)")
            return try await Array(server.requests().dropFirst(before))
        }

        /// Returns the names of the contacts that are kept, by path.
        func names() async throws -> [String: String] {
            try await records().mapValues { $0.value?.name ?? "" }
        }

        /// Returns the sizes of the vCards that are kept, by path.
        func sizes() async throws -> [String: Int?] { try await records().mapValues(\.contentSize) }

        private struct Line: Decodable {
            struct Value: Decodable { var name: String? }
            var key: String?
            var value: Value?
            var contentSize: Int?
        }

        private func records() async throws -> [String: Line] {
            let listed = try await account.larder("--json", "plugin", "records", "org.example.contacts")
            #expect(listed.exitCode == 0, "\(listed.summary)")
            let lines = try listed.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            return Dictionary(uniqueKeysWithValues: lines.compactMap { line in line.key.map { ($0, line) } })
        }
    }

    private func vCard(_ uid: String, _ name: String) -> String {
        "BEGIN:VCARD\nVERSION:3.0\nUID:\(uid)\nFN:\(name)\nN:\(name);;;;\nEND:VCARD\n"
    }

    /// Building takes long, so that all is shown with one build.
    @Test(
        "The contacts sample is built and tested by its own scripts, passes all checks, and follows the address books of real servers"
    )
    func works() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/prefix")
            try await mustRun("cp", ["-R", "\(Build.root)/SDK/Examples/contacts", folder])
            let sample = "\(folder)/contacts"
            let environment = ["LARDER_SDK": installed.prefix]
            let tested = try await installed.run("./test", in: sample, environment: environment)
            try #require(tested.exitCode == 0 && tested.output.contains("passed"), "\(tested.summary)")
            let library = "\(sample)/out/contacts.so"
            let validated = try await installed.run(
                installed.larder, ["plugin", "validate", "--strict", library], in: sample)
            #expect(validated.exitCode == 0, "\(validated.summary)")
            for program in CalendarServer.Program.allCases {
                try await withCalendarServer(program, data: "\(folder)/\(program)-data") { server in
                    try await follows(Contacts(in: "\(folder)/\(program)", server, library: library))
                }
            }
        }
    }

    private func follows(_ contacts: Contacts) async throws {
        let server = contacts.server
        let friends = try await server.makeAddressBook("friends", displayName: "Friends & more")
        try await server.put(["a.vcf": vCard("a", "Ann"), "b%20%C3%A4.vcf": vCard("b", "Bob")], into: friends)
        _ = try await contacts.runOnce()
        let (a, b) = ("\(friends.path)a.vcf", "\(friends.path)b%20%C3%A4.vcf")
        #expect(try await contacts.names() == [a: "Ann", b: "Bob"])
        let served = try await server.contents(of: ["a.vcf"], in: friends)
        #expect(try await contacts.sizes()[a] == served["a.vcf"]?.count)

        try await server.put("a.vcf", vCard("a", "Anna"), into: friends)
        try await server.remove("b%20%C3%A4.vcf", from: friends)
        let work = try await server.makeAddressBook("work")
        try await server.put("c.vcf", vCard("c", "Cid"), into: work)
        _ = try await contacts.runOnce()
        let c = "\(work.path)c.vcf"
        #expect(try await contacts.names() == [a: "Anna", c: "Cid"])

        // After a restart each book is asked once for news, and nothing is fetched.
        let quiet = try await contacts.runOnce()
        let reports = quiet.paths(of: "REPORT")
        #expect(Set(reports).count == reports.count && reports.contains(friends.path), "\(quiet)")
        #expect(quiet.paths(of: "GET").allSatisfy { !$0.hasSuffix(".vcf") }, "\(quiet)")
        #expect(try await contacts.names() == [a: "Anna", c: "Cid"])

        try await server.remove(work)
        _ = try await contacts.runOnce()
        #expect(try await contacts.names() == [a: "Anna"])
    }
}
