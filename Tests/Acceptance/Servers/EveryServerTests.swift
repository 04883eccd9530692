import TestSupport
import Testing

/// What works with every server, apart from each server's known limits.
@Suite(.serialized) struct EveryServerTests {
    @Test(
        "I1 I14: mirrored, checked again for nothing, and every change picked up",
        arguments: RealServer.Program.allCases)
    func life(_ program: RealServer.Program) async throws {
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            for index in 0..<120 {
                try Files.write("content \(1_000 + index)", to: "\(data)/folder \(index % 6)/sub/file \(index).txt")
            }
            for name in HardNames.files where program.serves(name) {
                try Files.write(name, to: "\(data)/names/\(name)")
            }
            try Files.makeFolder("\(data)/empty")
            try await withServer(program, data: data, options: Account.withLogin) { server in
                let old = 1_600_000_000
                for path in try Files.filesBelow(data) {
                    try await server.put(path, try Files.text("\(data)/\(path)"), modified: old)
                }
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let first = try await account.larder("run", "--once")
                #expect(first.exitCode == 0, "\(first.summary)")
                #expect(try await account.difference(from: data) == "")

                // A hundred files change; half of them keep their size.
                for index in 0..<100 {
                    let text = index % 2 == 0 ? "content \(5_000 + index)" : "grown content \(index)"
                    try await server.put("folder \(index % 6)/sub/file \(index).txt", text, modified: old + 10 + index)
                }
                try await server.put("folder 0/sub/deeper/new", "new", modified: old)
                Files.remove("\(data)/folder 1/sub/file 115.txt")
                let second = try await account.larder("run", "--once")
                #expect(second.exitCode == 0, "\(second.summary)")
                // The copy of a file that was removed on the server stays here until vacuum removes it.
                #expect(try account.text("folder 1/sub/file 115.txt") != nil)
                Files.remove("\(account.files)/folder 1/sub/file 115.txt")
                #expect(try await account.difference(from: data) == "")
                let gone = try await account.larder("stat", "/folder 1/sub/file 115.txt")
                #expect(gone.exitCode == 66, "\(gone.summary)")

                // None of these servers has ids, so a moved file is another item, and the status says so.
                let moved = ("folder 2/sub/file 116.txt", "folder 2/sub/moved.txt")
                let before = try await account.larder("--json", "stat", "/\(moved.0)").field("localID")
                try Files.write(try Files.text("\(data)/\(moved.0)"), to: "\(data)/\(moved.1)")
                Files.remove("\(data)/\(moved.0)")
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let after = try await account.larder("--json", "stat", "/\(moved.1)").field("localID")
                #expect(before != nil && after != nil && before != after)
                let status = try await account.larder("--json", "status")
                #expect(status.output.contains(#""moves":false"#), "\(status.summary)")
            }
        }
    }

    @Test("a server without our password lets nothing in", arguments: RealServer.Program.allCases)
    func wrongPassword(_ program: RealServer.Program) async throws {
        try await withTemporaryFolder { folder in
            try Files.write("x", to: "\(folder)/data/a")
            try await withServer(program, data: "\(folder)/data", options: Account.withLogin) { server in
                let account = try Account(in: folder, url: server.url, user: "ada", password: "wrong")
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let result = try await account.larder("run", "--once")
                #expect(result.exitCode == 77, "\(result.summary)")
            }
        }
    }
}

extension RealServer.Program {
    /// Tells whether the server is known to list a name unchanged.
    fileprivate func serves(_ name: String) -> Bool {
        switch self {
        case .apache, .wsgidav: true
        // nginx leaves names with a dot out of listings.
        case .nginx: !name.hasPrefix(".")
        // rclone lists control characters as their Unicode pictures.
        case .rclone: name.utf8.allSatisfy { $0 >= 0x20 }
        }
    }
}

extension ProcessResult {
    /// Returns the text value of a field of the single object that was printed.
    fileprivate func field(_ name: String) -> String? {
        guard let start = output.firstRange(of: "\"\(name)\":\"") else { return nil }
        return String(output[start.upperBound...].prefix { $0 != "\"" })
    }
}
