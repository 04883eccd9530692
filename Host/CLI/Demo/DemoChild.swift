import FoundationEssentials
import Glibc
import Model
import Threads

/// The demo's server, which is a program of its own. It ends when nothing refers to this any more.
final class DemoChild: Sendable {
    /// What the server has.
    struct Contents: Decodable {
        var url, user, password: String
        /// The number of files and folders, and of the files below ``photos``.
        var items, pictures: Int
        var photos, changed, movedFrom, movedTo, added: String
        var letters: [String]
        var calendar: String
    }

    /// What was asked of the server.
    struct Requests: Decodable {
        var count: Int
        /// The paths of the files that were sent, and the number of their bytes.
        var fetched: [String]
        var bytes: Int
    }

    private struct Done: Decodable {
        var error: String?
    }

    let contents: Contents
    private let socket: PolledSocket
    private let process: pid_t

    /// Starts the server.
    /// - Throws: `cannotCreate` if it cannot be started.
    static func start() async throws(Failure) -> DemoChild {
        let program = BuiltIn.demo
        guard access(program, X_OK) == 0 else {
            throw Failure(
                .cannotCreate, "the demo's server \(program) cannot be started: \(errorText(errno))",
                hint: "`larder-demo` is built with `larder`, and belongs beside it or into `../libexec/larder`")
        }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw failure("no socket can be created: \(errorText(errno))")
        }
        defer { close(ends[1]) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let socket: PolledSocket
        do throws(ThreadError) { socket = try PolledSocket(ends[0]) } catch { throw failure("\(error)") }
        let process: pid_t
        do throws(ChildProgram.NotStarted) {
            process = try ChildProgram(words: [program]).start(writingTo: ends[1], readingFrom: ends[1])
        } catch {
            throw failure("it cannot be started: \(errorText(error.code))")
        }
        close(ends[1])
        ends[1] = -1
        do throws(Failure) {
            return DemoChild(try await answer(on: socket), socket, process)
        } catch {
            await end(socket, process)
            throw error
        }
    }

    private init(_ contents: Contents, _ socket: PolledSocket, _ process: pid_t) {
        (self.contents, self.socket, self.process) = (contents, socket, process)
    }

    /// Has something happen on the server.
    /// - Parameter name: the act, as the program names it.
    func act(_ name: String) async throws(Failure) {
        let done: Done = try await ask(name)
        if let error = done.error { throw Self.failure(error) }
    }

    /// Returns what was asked of the server since the last call.
    func takeRequests() async throws(Failure) -> Requests { try await ask("requests") }

    /// Waits until the server has ended by itself.
    /// - Throws: `CancellationError` if the task is cancelled.
    func untilGone() async throws(CancellationError) { try await socket.untilGone() }

    /// Ends the server, and waits for its end.
    /// - Returns: How it ended; nil if nobody knows.
    @discardableResult func stop() async -> RunningProgram.Ending? { await Self.end(socket, process) }

    private func ask<Answer: Decodable>(_ question: String) async throws(Failure) -> Answer {
        do { try await socket.write(Array("\(question)\n".utf8)) } catch { throw Self.failure("\(error)") }
        return try await Self.answer(on: socket)
    }

    /// Reads a line of the program.
    private static func answer<Answer: Decodable>(on socket: PolledSocket) async throws(Failure) -> Answer {
        var line: [UInt8] = []
        do {
            while line.last != UInt8(ascii: "\n") {
                let piece = try await socket.read(atMost: 65_536)
                guard !piece.isEmpty else {
                    throw failure(line.isEmpty ? "it has ended" : String(decoding: line, as: UTF8.self))
                }
                line += piece
            }
            return try JSONDecoder().decode(Answer.self, from: Data(line))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw failure("\(String(decoding: line, as: UTF8.self)): \(error)")
        }
    }

    @discardableResult
    private static func end(_ socket: PolledSocket, _ process: pid_t) async -> RunningProgram.Ending? {
        socket.end()
        return await runBlocking {
            var status: Int32 = 0
            for _ in 0..<500 {
                let ended = waitpid(process, &status, WNOHANG)
                if ended == process { return RunningProgram.Ending(waitStatus: status) }
                // Somebody else may have waited for it. Its number may be another process's then.
                if ended < 0 && errno == ECHILD { return nil }
                usleep(10_000)
            }
            kill(process, SIGKILL)
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return RunningProgram.Ending(waitStatus: status)
        }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(.cannotCreate, "the demo's server failed: \(what)")
    }
}
