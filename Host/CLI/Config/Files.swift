import Glibc
import Model

/// Reads a whole file. A pipe is read until nobody has it open for writing any more. If nothing comes for a
/// minute, that is an error.
/// - Parameter limit: the largest length in bytes.
/// - Throws: `localIO` with the system's reason, or if the file is longer than the limit.
func readFile(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw Failure(.localIO, "\(path): \(errorText(errno))") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0 && errno == EINTR { continue }
        if count < 0 && errno == EAGAIN {
            var waits = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waits, 1, 60_000) != 0 else {
                throw Failure(.localIO, "\(path): nothing was written into it for a minute")
            }
            continue
        }
        guard count >= 0 else { throw Failure(.localIO, "\(path): \(errorText(errno))") }
        if count == 0 { return bytes }
        bytes += chunk[..<count]
        guard bytes.count <= limit else { throw Failure(.localIO, "\(path) is longer than \(limit) bytes") }
    }
}

/// Returns the system's text for an error number.
func errorText(_ number: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

func currentFolder() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
}

/// Returns the process's environment. If a name stands twice, its first value is taken.
func processEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
        let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, result[String(parts[0])] == nil { result[String(parts[0])] = String(parts[1]) }
        entry += 1
    }
    return result
}
