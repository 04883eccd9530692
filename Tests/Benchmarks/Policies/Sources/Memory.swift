import Glibc

/// The memory of this process, as the kernel counts it.
enum Memory {
    /// Resets the peak to the memory that is in use now.
    static func forgetPeak() throws {
        guard let file = fopen("/proc/self/clear_refs", "w") else { throw BenchmarkError("no /proc/self/clear_refs") }
        fputs("5", file)
        fclose(file)
    }

    /// Returns the largest resident set since the last reset, in kB.
    static func peak() throws -> Int {
        guard let file = fopen("/proc/self/status", "r") else { throw BenchmarkError("no /proc/self/status") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                .split(whereSeparator: \.isWhitespace)
            if words.first == "VmHWM:", words.count > 1, let kB = Int(words[1]) { return kB }
        }
        throw BenchmarkError("no VmHWM in /proc/self/status")
    }
}
