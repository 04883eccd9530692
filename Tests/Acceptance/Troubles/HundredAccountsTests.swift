import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// A host with a hundred accounts.
struct HundredAccountsTests {
    /// Returns what the descriptors of a process are of.
    private func descriptors(of process: pid_t) throws -> [String] {
        try Files.names(in: "/proc/\(process)/fd").map { name in
            var target = [CChar](repeating: 0, count: 4096)
            let size = readlink("/proc/\(process)/fd/\(name)", &target, target.count - 1)
            return String(decoding: target.prefix(max(0, size)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    @Test(
        "H18, H11: a hundred accounts start though every tenth server is dead, and rest on few threads"
    )
    func hundred() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/first", "1")
                let crowd = try Crowd(of: 100, in: folder, at: server) { number in
                    number.isMultiple(of: 10) ? "http://127.0.0.1:1/" : nil
                }
                let larder = crowd.larder
                let host = try crowd.start()
                do {
                    try await soon("all servers that live are listed") {
                        guard let status = try? await larder("--json", "status"), status.exitCode == 0 else {
                            return false
                        }
                        return status.lines.count {
                            $0.contains(#""connection":"online""#) && $0.contains(#""items":1,"#)
                        }
                            == 90
                    }
                    #expect(try descriptors(of: host.pid).count { $0.contains("inotify") } <= 16)
                    try await soon("few threads are left") {
                        ((try? Files.names(in: "/proc/\(host.pid)/task").count) ?? .max) <= 150
                    }
                    try Files.write("mine", to: "\(folder)/a99/files/new")
                    try await soon("a change in the last account's tree is noticed") {
                        let found = try? await larder("--account", "a99", "ls")
                        return found?.output.contains("new") == true
                    }
                    #expect(!host.hasEnded)
                    host.send(SIGTERM)
                    #expect(await host.wait(atMost: .seconds(120)) == .code(0))
                } catch {
                    Issue.record(error, "\((try? Files.text(crowd.log)) ?? "")")
                    host.send(SIGKILL)
                    _ = await host.wait(atMost: .seconds(60))
                }
                let errors = try Files.text(crowd.log)
                #expect(!errors.contains("watch"), "\(errors)")
            }
        }
    }
}
