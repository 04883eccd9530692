import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// `larder status --watch`, in a pipe and on a terminal.
@Suite(.serialized) struct StatusWatchTests {
    @Test("U10: a watch with JSON sees the host come, its transfers and pauses, and go; it leaves nothing in the host")
    func json() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/big", String(repeating: "x", count: 300_000))
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let watch = try account.larder.start(
                    ["--json", "status", "--watch"], output: "\(folder)/lines", errors: "\(folder)/errors")
                func lines() throws -> [Substring] { try Files.text("\(folder)/lines").split(separator: "\n") }
                func until(_ what: String, _ isSo: @escaping (Substring) -> Bool) async throws {
                    try await soon(what, beside: watch, log: "\(folder)/lines") { try lines().last.map(isSo) ?? false }
                }
                try await until("no host runs") { $0.contains(#""running":false,"transfers":null"#) }

                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                _ = try await account.untilCommanded(host)
                try await until("the host is online") {
                    $0.contains(#""connection":"online""#) && $0.contains(#""running":true"#)
                }
                let hold = server.add(Fault(.hold(afterBytes: 200_000), method: "GET", path: "/big"))
                #expect(try await account.larder("get", "--queue", "/big").exitCode == 0)
                try await until("a transfer is under way") {
                    $0.firstMatch(of: /"underWay":\[\{"path":"\/big","direction":"download","bytes":[12]\d{5},"size":3/)
                        != nil
                        && $0.contains(#""activity":"busy""#)
                }
                #expect(try await account.larder("pause").exitCode == 0)
                try await until("it is paused") { $0.contains(#""paused":true"#) && $0.contains(#""underWay":[]"#) }
                server.remove(hold)
                #expect(try await account.larder("resume").exitCode == 0)
                try await until("the file is here") {
                    $0.contains(#""localCopies":1"#) && $0.contains(#""activity":"idle""#)
                }
                try await soon("it prints nothing while nothing changes", beside: watch, log: "\(folder)/lines") {
                    let count = try lines().count
                    try await Task.sleep(for: .seconds(2))
                    return try lines().count == count
                }
                #expect(try lines().allSatisfy { $0.hasPrefix(#"{"account":"home","#) && $0.hasSuffix("}") })

                // A watcher that is killed leaves no connection.
                let before = try sockets(of: host)
                let killed = try account.larder.start(["status", "--watch"], output: "\(folder)/blocks")
                try await soon("it is connected", beside: killed) {
                    try sockets(of: host) > before
                        && Files.text("\(folder)/blocks").contains("home: online")
                }
                killed.send(SIGKILL)
                _ = await killed.wait()
                try await soon("the connection is gone", beside: host) {
                    try sockets(of: host) <= before
                }
                #expect(await host.stop() == .code(0))
                try await until("the host is gone") { $0.contains(#""running":false,"transfers":null"#) }
                #expect(await watch.stop() == .code(0))
                #expect(try Files.text("\(folder)/errors") == "")
            }
        }
    }

    @Test("U10: a watch sees an upload, and what of it was sent")
    func upload() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let account = try Account(
                    in: folder, server, settings: ["poll: 1h", "limits: { bandwidth: { up: 100KB } }"])
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                try await account.untilOnline(host, log: "\(folder)/log")
                try Files.write(Array(repeating: 1, count: 30_000_000), to: "\(folder)/big")
                #expect(try await account.larder("put", "\(folder)/big", "/big", "--queue").exitCode == 0)
                let watch = try account.larder.start(["--json", "status", "--watch"], output: "\(folder)/lines")
                func until(_ what: String, _ isSo: @escaping (Substring) -> Bool) async throws {
                    try await soon(what, beside: watch, log: "\(folder)/lines") {
                        try Files.text("\(folder)/lines").split(separator: "\n").last.map(isSo) ?? false
                    }
                }
                try await until("the upload is under way") {
                    $0.contains(/"underWay":\[\{"path":"\/big","direction":"upload","bytes":[1-9]\d{4,6},"size":3/)
                }
                let list = try await account.larder("--json", "sync", "list")
                #expect(
                    list.output.contains(/"action":"upload","path":"\/big".*"progress":0\.0\d*[1-9]/), "\(list.summary)"
                )
                #expect(try await account.larder("sync", "list").output.contains(/\/big  \(\d % uploaded\)/))
                #expect(await host.stop() == .code(0))
                try await until("the host is gone") { $0.contains(#""running":false,"transfers":null"#) }
                #expect(await watch.stop() == .code(0))
            }
        }
    }

    /// Returns the number of sockets that a process has open.
    private func sockets(of process: ChildProcess) throws -> Int {
        try Files.names(in: "/proc/\(process.pid)/fd").count { name in
            var target = [CChar](repeating: 0, count: 256)
            let length = readlink("/proc/\(process.pid)/fd/\(name)", &target, 255)
            return length > 0 && strncmp(target, "socket:", 7) == 0
        }
    }

    @Test("U10: on a terminal the status is drawn in place, in the window's size, and the terminal is left as it was")
    func terminal() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                let account = try Account(in: folder, server, settings: ["poll: 1h"])
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                try await account.untilOnline(host, log: "\(folder)/log")
                for signal in ["SIGINT", "SIGTERM"] {
                    let result = try await run(
                        "python3",
                        ["-c", Self.driver, try Build.larder, account.larder.config, "\(folder)/home", signal],
                        timeout: .seconds(300))
                    #expect(result.output == "well\n", "\(signal): \(result.summary)")
                }
                #expect(await host.stop() == .code(0))
            }
        }
    }

    @Test("U10: a watcher that reads nothing costs the host bounded memory, and holds nobody up")
    func stalled() async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                let account = try Account(in: folder, server, settings: ["poll: 1s"])
                let host = try account.larder.start(["run"], errors: "\(folder)/log")
                let socket = try await account.untilCommanded(host)
                let result = try await run("python3", ["-c", Self.stalling, socket, "\(host.pid)"])
                #expect(result.output == "well\n", "\(result.summary)")
                #expect(try await account.larder("wait").exitCode == 0)
                let none = try await run(
                    "curl",
                    ["-sS", "--max-time", "60", "--unix-socket", socket, "http://larder/v1/accounts/none/events"])
                #expect(none.output.contains("no account `none`"), "\(none.summary)")
                let one = try await run(
                    "curl",
                    ["-sS", "--max-time", "60", "--unix-socket", socket, "http://larder/v1/accounts/home/events"])
                #expect(one.output.contains(#""phase":"atWork""#), "\(one.summary)")
                #expect(await host.stop() == .code(0))
            }
        }
    }

    /// A program that begins many watches, reads none of them for a while, and then ends them.
    private static let stalling = """
        import os, socket, sys, time
        path, pid = sys.argv[1], sys.argv[2]
        def memory():
            return int([l for l in open('/proc/%s/status' % pid) if l.startswith('VmRSS')][0].split()[1])
        def descriptors():
            folder = '/proc/%s/fd' % pid
            count = 0
            for name in os.listdir(folder):
                try: count += os.readlink(folder + '/' + name).startswith('socket:')
                except OSError: pass
            return count
        before, files = memory(), descriptors()
        watches = []
        for i in range(50):
            s = socket.socket(socket.AF_UNIX); s.connect(path)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.sendall(b'GET /v1/accounts/home/events HTTP/1.1\\r\\nHost: x\\r\\nAccept: text/event-stream\\r\\n\\r\\n')
            watches.append(s)
        time.sleep(3)
        assert watches[0].recv(100000).startswith(b'HTTP/1.1 200'), 'no answer'
        assert memory() < before + 60000, (before, memory())
        for s in watches: s.close()
        for i in range(600):
            if descriptors() <= files: break
            time.sleep(0.1)
        assert descriptors() <= files, (files, descriptors())
        print('well')
        """

    /// A program that runs the command on a terminal of its own, changes the window's size, and ends it by a signal.
    private static let driver = """
        import fcntl, os, pty, select, signal, struct, sys, termios, time
        larder, config, home, name = sys.argv[1:5]
        pid, terminal = pty.fork()
        if pid == 0:
            environment = {'HOME': home, 'TERM': 'xterm', 'PATH': '/usr/bin:/bin', 'XDG_RUNTIME_DIR': home}
            time.sleep(0.2)
            os.execve(larder, [larder, '--config', config, 'status', '--watch'], environment)
        def size(rows, columns):
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        size(4, 20)
        seen = b''
        def read(wanted, since, limit=120):
            global seen
            end = time.time() + limit
            while wanted not in seen[since:]:
                assert time.time() < end, (wanted, seen[-3000:])
                if select.select([terminal], [], [], 1)[0]:
                    try: seen += os.read(terminal, 65536)
                    except OSError: break
            return len(seen)
        read(b'\\x1b[?1049h', 0)
        at = read('more lines'.encode(), 0)
        frame = seen[seen.rfind(b'\\x1b[H'):]
        assert all(len(line.split(b'\\x1b[K')[0].replace(b'\\x1b[H', b'').decode()) <= 20 for line in frame.split(b'\\r\\n')), frame
        size(60, 100)
        read(b'queue      empty', at)
        frame = seen[seen.rfind(b'\\x1b[H'):]
        assert b'more line' not in frame and b'items      1, anchor' in frame, frame
        at = len(seen)
        os.kill(pid, getattr(signal, name))
        read(b'\\x1b[?1049l', at)
        assert b'\\x1b[?25h' in seen[at:] and b'\\x1b[?7h' in seen[at:], seen[at:]
        _, status = os.waitpid(pid, 0)
        assert status == 0, status
        print('well')
        """
}
