import Glibc
import Model

/// A file with the calls into plugins in the format of Chrome's trace events, which Perfetto opens too: a JSON array with
/// an event a line. The format allows that the array's end is missing, so that the file can be opened at any time.
struct TimelineFile: ~Copyable {
    private let path: String
    private let descriptor: Int32
    private var timeline = Timeline()
    private var isFirst = true

    /// Creates the file.
    /// - Parameter path: the path. An existing file is replaced.
    /// - Throws: `cannotCreate` if the file cannot be written.
    init(path: String) throws(Failure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(.cannotCreate, "the timeline \(path) cannot be written: \(errorText(errno))")
        }
    }

    deinit { Glibc.close(descriptor) }

    /// Adds what lines of a trace tell.
    /// - Throws: `localIO` if the file cannot be written.
    mutating func add(_ lines: [JSONValue], of account: String) throws(Failure) {
        try write(timeline.begin(account) + lines.flatMap { timeline.events(of: $0, in: account) })
    }

    /// Adds the calls that are still under way, and ends the array.
    /// - Throws: `localIO` if the file cannot be written.
    mutating func close() throws(Failure) {
        try write(timeline.end())
        try write(isFirst ? "[]\n" : "\n]\n")
    }

    private mutating func write(_ events: [JSONValue]) throws(Failure) {
        guard !events.isEmpty else { return }
        try write((isFirst ? "[\n" : ",\n") + events.map(\.text).joined(separator: ",\n"))
        isFirst = false
    }

    private func write(_ text: String) throws(Failure) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw Failure(.localIO, "the timeline \(path) cannot be written: \(errorText(errno))")
            }
            rest = rest.dropFirst(count)
        }
    }
}
