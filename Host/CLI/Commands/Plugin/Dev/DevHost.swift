import CLinux
import Core
import Glibc
import Logging
import Model
import Threads

/// A host of `larder plugin dev`, whose output is read.
final class DevHost: Sendable {
    let program: RunningProgram
    private let watching: Task<Void, Never>

    /// The number of reads whose lines wait to be shown. More come only while nobody reads the output of the command; the
    /// first of them are not shown then, so that no plugin waits for a reader.
    private static let mostReads = 200
    /// The length that a line is shown to, in bytes.
    private static let longestLine = 1 << 20
    /// The time in which the last lines of a host are read.
    private static let readingLimit = Duration.seconds(1)

    /// Starts a host with a trace of its plugins.
    /// - Parameters:
    ///   - show: Receives the lines in their order. It may block.
    ///   - ended: Is called when the host has ended and was not asked to, after its last line.
    static func start(
        _ demo: ServedDemo, level: Logger.Level, show: @escaping @Sendable ([String]) -> Void,
        ended: @escaping @Sendable (RunningProgram.Ending) -> Void
    ) async throws(Failure) -> DevHost {
        var ends: [Int32] = [-1, -1]
        guard linux_pipe_cloexec(&ends) == 0 else {
            throw Failure(.localIO, "the host's output cannot be read: \(errorText(errno))")
        }
        defer { close(ends[1]) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let pipe: PolledSocket
        do throws(ThreadError) { pipe = try PolledSocket(ends[0]) } catch {
            throw Failure(.localIO, "the host's output cannot be read: \(error)")
        }
        // The log and the trace in one pipe have their order.
        let host = demo.hostProgram(["--trace", "/dev/stderr"], level: level, format: .json)
        do throws(ChildProgram.NotStarted) {
            let program = try await RunningProgram.start(host, output: ends[1], errors: ends[1])
            return DevHost(program, pipe, show: show, ended: ended)
        } catch {
            throw Failure(.cannotCreate, "the host cannot be started: \(errorText(error.code))")
        }
    }

    private init(
        _ program: RunningProgram, _ pipe: PolledSocket, show: @escaping @Sendable ([String]) -> Void,
        ended: @escaping @Sendable (RunningProgram.Ending) -> Void
    ) {
        let (reads, source) = AsyncStream.makeStream(
            of: [String].self, bufferingPolicy: .bufferingNewest(Self.mostReads))
        let dropped = Monitor(0)
        let reading = Task {
            await Self.read(pipe) { lines in
                guard case .dropped(let old) = source.yield(lines) else { return }
                dropped.change { $0 += old.count }
            }
            source.finish()
        }
        let areShown = Monitor(false)
        Task {
            for await lines in reads {
                await runBlocking {
                    let count = dropped.change { count in
                        defer { count = 0 }
                        return count
                    }
                    show(count == 0 ? lines : ["larder: lines that nobody read were dropped here: \(count)"] + lines)
                }
            }
            areShown.change { $0 = true }
        }
        watching = Task {
            let ending = await program.ended()
            // What the host has started may have its output open still, and nobody need read this command's.
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await areShown.waitUnlessCancelled { $0 } }
                group.addTask { try? await Task.sleep(for: Self.readingLimit) }
                await group.next()
                group.cancelAll()
            }
            reading.cancel()
            if !program.isEndWanted { ended(ending) }
        }
        self.program = program
    }

    /// Whether the host has not ended.
    var isRunning: Bool { !program.hasEnded }

    /// Ends the host, and waits until its last line is shown.
    func end() async {
        _ = await program.end(by: SIGTERM, within: DemoService.hostGrace)
        await watching.value
    }

    /// Reads lines to the end of the output, or until the task is cancelled.
    private static func read(_ pipe: PolledSocket, _ take: ([String]) -> Void) async {
        var rest: [UInt8] = []
        while let piece = try? await pipe.read(atMost: 65_536), !piece.isEmpty {
            rest += piece
            var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            if let last = lines.last, last.count <= longestLine { lines.removeLast() }
            rest = Array(rest.dropFirst(lines.reduce(0) { $0 + $1.count + 1 }))
            if !lines.isEmpty { take(lines.map { String(decoding: $0, as: UTF8.self) }) }
        }
        if !rest.isEmpty { take([String(decoding: rest, as: UTF8.self)]) }
    }
}
