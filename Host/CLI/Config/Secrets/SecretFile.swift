import Glibc
import Model
import Threads

/// A file with a secret. The file may be a pipe that another program writes to when the secret is wanted.
struct SecretFile: Sendable {
    /// The absolute path of the file.
    let path: String
    var timeLimit: Duration = SecretCommand.timeLimit

    /// Reads the file. A thread that may block waits for its content.
    /// - Throws: `config`, with the path.
    func content(limit: Int) async throws(Failure) -> [UInt8] {
        try await runBlocking { read(limit: limit) }.get()
    }

    /// Whether reading the file leaves its content in place for the next reader.
    var canBeReadAgain: Bool {
        var status = stat()
        // Opening a folder fails at once, so folders need not be left out.
        return stat(path, &status) == 0 && [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    private func read(limit: Int) -> Result<[UInt8], Failure> {
        // Without O_NONBLOCK, opening a pipe without a writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return .failure(failure(errorText(errno))) }
        defer { close(descriptor) }
        return Deadline(after: timeLimit).read(descriptor, limit: limit).mapError { problem in
            switch problem {
            case .late: failure("reading it took longer than \(ConfigScalar.write(timeLimit))")
            case .tooLong: failure("it is longer than \(limit) bytes")
            case .failed(let code): failure(errorText(code))
            }
        }
    }

    private func failure(_ what: String) -> Failure {
        Failure(.config, "the secret's file \(path) cannot be read: \(what)")
    }
}

/// The time at which a wait for another process ends.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(after limit: Duration) { end = .now + limit }

    enum Problem: Error {
        case late
        case tooLong
        /// A system error, with the value of `errno`.
        case failed(Int32)
    }

    /// The time left in milliseconds; nil if the deadline has passed.
    var left: Int32? {
        let left = ContinuousClock.now.duration(to: end).nanoseconds / 1_000_000
        return left > 0 ? Int32(clamping: left + 1) : nil
    }

    /// Reads a descriptor to its end.
    func read(_ descriptor: Int32, limit: Int) -> Result<[UInt8], Problem> {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            guard let left else { return .failure(.late) }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&waiting, 1, left)
            if ready < 0 && errno != EINTR { return .failure(.failed(errno)) }
            guard ready > 0 else { continue }
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count >= 0 else { return .failure(.failed(errno)) }
            if count == 0 { return .success(bytes) }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { return .failure(.tooLong) }
        }
    }

    /// Waits for a child to end.
    /// - Parameter reap: returns the child's status if it has ended, else nil.
    /// - Returns: the child's status; nil if the child is still running at the deadline.
    func wait(for reap: () -> Int32?) -> Int32? {
        // Most children have ended by now, or end at once.
        var pause: UInt32 = 500
        while true {
            if let status = reap() { return status }
            guard left != nil else { return nil }
            usleep(pause)
            pause = min(pause * 2, 50_000)
        }
    }
}
