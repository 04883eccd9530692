import Glibc

/// Starts a program that listens on 127.0.0.1, waits until the program accepts connections, and stops it when the scope
/// ends, however it ends.
/// - Parameters:
///   - name: the program's name, for the error if the program does not start.
///   - start: starts the program on a port, with a folder for the program's own files. The error shows `server.log`
///     in that folder.
func withListening<Server, Result>(
    _ name: String, isolation: isolated (any Actor)? = #isolation,
    start: (_ port: UInt16, _ run: String) async throws -> (Server, ChildProcess),
    body: (Server) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { run in
        // The port was free a moment ago. If another program has taken the port since, another port is tried.
        var problem = ""
        for _ in 0..<5 {
            let port = try LoopbackPort.free()
            let (server, child) = try await start(port, run)
            if await accepts(port, while: child) {
                do {
                    let result = try await body(server)
                    await child.stop()
                    return result
                } catch {
                    await child.stop()
                    throw error
                }
            }
            await child.stop()
            problem = (try? Files.text("\(run)/server.log")) ?? ""
        }
        throw SetupError("\(name) does not start: \(problem)")
    }
}

/// Waits until a port accepts connections.
/// - Returns: false if the program ended, or did not accept connections within two minutes.
private func accepts(_ port: UInt16, while child: ChildProcess) async -> Bool {
    let isOpen = await until(atMost: .seconds(120)) { child.hasEnded || LoopbackPort.isOpen(port) }
    return isOpen && !child.hasEnded && !isSomebodyElses(port, child)
}

/// Tells whether another program listens on the port. That program was faster, and the child will find the port taken.
private func isSomebodyElses(_ port: UInt16, _ child: ChildProcess) -> Bool {
    do {
        let sockets = try Files.names(in: "/proc/\(child.pid)/fd").compactMap { name in
            Files.target(of: "/proc/\(child.pid)/fd/\(name)")
        }
        let address = ":" + String(port, radix: 16, uppercase: true).leftPadded(to: 4)
        for line in try Files.text("/proc/net/tcp").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[1].hasSuffix(address), fields[3] == "0A" else { continue }
            return !sockets.contains("socket:[\(fields[9])]")
        }
        return false
    } catch {
        return false
    }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String { String(repeating: "0", count: max(0, width - count)) + self }
}

/// Returns a server's log with the lines of all answered requests. A server writes a line just after the answer's last
/// byte, so the log is read until it stops growing.
func settledLog(_ path: String) async throws -> String {
    var text = try Files.text(path)
    while true {
        try await Task.sleep(for: .milliseconds(50))
        let again = try Files.text(path)
        if again == text { return text }
        text = again
    }
}
