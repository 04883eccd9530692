import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// The units for systemd that come with Larder.
@Suite struct UnitTests {
    @Test("H10: systemd finds nothing wrong with the units", arguments: ["larder.service", "larder@.service"])
    func verified(name: String) async throws {
        try await withTemporaryFolder { folder in
            let isTemplate = name.contains("@")
            // The program lies elsewhere in the tests, and a template is checked with a name for its account.
            let unit = try Files.text("\(Build.root)/Host/Service/\(name)").split(
                separator: "\n", omittingEmptySubsequences: false
            ).map { line in
                guard line.hasPrefix("ExecStart=") else { return String(line) }
                return (["ExecStart=\"\(try Build.larder)\""] + line.split(separator: " ").dropFirst().map(String.init))
                    .joined(separator: " ")
            }.joined(separator: "\n")
            let checked = isTemplate ? "larder@home.service" : name
            let path = "\(folder)/\(checked)"
            try Files.write(unit, to: path)
            let result = try await run(
                "systemd-analyze", ["verify", "--man=no", isTemplate ? "--system" : "--user", path],
                environment: ["PATH": "/usr/bin:/bin", "HOME": folder, "XDG_RUNTIME_DIR": folder])
            #expect(result.exitCode == 0 && !result.errors.contains(checked), "\(result.summary)")
        }
    }

    @Test("H10: the units' numbers fit the program's: exit codes, the time to stop, the priorities of the log")
    func numbers() throws {
        for name in ["larder.service", "larder@.service"] {
            let lines = Set(
                try Files.text("\(Build.root)/Host/Service/\(name)").split(separator: "\n").map(String.init))
            for line in [
                "Type=notify", "RestartPreventExitStatus=64 77 78", "TimeoutStopSec=40s",
                "Environment=LARDER_LOG_FORMAT=journal",
            ] { #expect(lines.contains(line), "\(name)") }
        }
    }

    @Test("H10: a host does its work without capabilities, new rights, or memory that is both writable and executable")
    func hardened() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                var larder = account.larder
                // PR_SET_MDWE, as MemoryDenyWriteExecute= has it.
                let deny = """
                    import ctypes, os, sys
                    ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)
                    os.execvp(sys.argv[1], sys.argv[1:])
                    """
                let user = "\(Build.unprivilegedUser)"
                let less = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--bounding-set=-all"]
                larder.wrapper =
                    ["python3", "-c", deny, "setpriv", "--inh-caps=-all", "--no-new-privs"] + (Build.isRoot ? less : [])
                if Build.isRoot { try await mustRun("chown", ["-R", user, folder]) }
                let result = try await larder("run", "--once")
                #expect(result.exitCode == 0, "\(result.summary)")
                #expect(try account.text("a") == "one")
                let plugins = try await larder("plugin", "list")
                #expect(plugins.exitCode == 0 && !plugins.output.contains("refused"), "\(plugins.summary)")
            }
        }
    }

    @Test("H10: a host makes no system call that the units forbid")
    func systemCalls() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server)
                var larder = account.larder
                larder.hasLoops = true
                #expect(try await larder("pin", "/").exitCode == 0)
                larder.wrapper = ["strace", "-f", "-qq", "-o", "\(folder)/calls"]
                let result = try await larder("run", "--once")
                #expect(result.exitCode == 0, "\(result.summary)")
                #expect(try account.text("a") == "one")
                let calls = Set(try Files.text("\(folder)/calls").matches(of: /\n\d+ +(\w+)\(/).map { String($0.1) })
                let allowed = systemCalls(
                    of: "@system-service", try await mustRun("systemd-analyze", ["syscall-filter"]))
                #expect(calls.contains("renameat2") && allowed.contains("renameat2"))
                #expect(calls.subtracting(allowed).sorted() == [])
            }
        }
    }

    /// Returns the names in a set of system calls, and in the sets that it contains.
    /// - Parameter sets: the output of `systemd-analyze syscall-filter`.
    private func systemCalls(of set: String, _ sets: String) -> Set<String> {
        let lines = sets.split(separator: "\n").drop { $0 != set }.dropFirst().prefix { $0.hasPrefix(" ") }
        var names: Set<String> = []
        for name in lines.map({ String($0.drop { $0 == " " }) }) where !name.hasPrefix("#") {
            if name.hasPrefix("@") { names.formUnion(systemCalls(of: name, sets)) } else { names.insert(name) }
        }
        return names
    }
}
