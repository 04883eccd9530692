import Glibc

/// A report of what the threads of a process group do at a moment, as `/proc` shows it.
enum ThreadReport {
    /// Returns the processes of a group with their arguments, and for each of their threads its name, its state and the
    /// kernel function that it waits in. The kernel's stack follows if it can be read, which takes root's rights.
    static func text(ofGroup group: pid_t) -> String {
        let processes = ((try? Files.names(in: "/proc")) ?? []).filter { Self.group(of: $0) == group }
        return processes.map(text(of:)).joined(separator: "\n")
    }

    /// Returns a line about each thread of this process that a server of the tests answers on, or that works or waits for
    /// the disk.
    static var ofServers: String {
        let folder = "/proc/self/task"
        let threads = ((try? Files.names(in: folder)) ?? []).compactMap { thread -> String? in
            let name = content("\(folder)/\(thread)/comm")
            let state = fields(ofStat: "\(folder)/\(thread)/stat").first ?? "?"
            guard name == "demo server" || name == "sockets" || state == "R" || state == "D" else { return nil }
            return "\(name) \(state) \(content("\(folder)/\(thread)/wchan"))"
        }
        return "The tests' own threads: \(threads.joined(separator: "; ")); load \(content("/proc/loadavg"))\n"
    }

    private static func text(of process: String) -> String {
        let folder = "/proc/\(process)/task"
        let arguments = content("/proc/\(process)/cmdline").split(separator: "\0").joined(separator: " ")
        let threads = ((try? Files.names(in: folder)) ?? []).map { thread in
            let name = content("\(folder)/\(thread)/comm")
            let state = fields(ofStat: "\(folder)/\(thread)/stat").first ?? "?"
            let wait = content("\(folder)/\(thread)/wchan")
            let stack = content("\(folder)/\(thread)/stack").split(separator: "\n").map { "\n    \($0)" }.joined()
            return "\n  thread \(thread) \(name): state \(state), wchan \(wait)\(stack)"
        }
        return "process \(process) \(arguments)\(threads.joined())"
    }

    private static func group(of process: String) -> pid_t? {
        guard pid_t(process) != nil else { return nil }
        let fields = fields(ofStat: "/proc/\(process)/stat")
        return fields.count > 2 ? pid_t(fields[2]) : nil
    }

    /// Returns the fields from the state on. They follow the name, which may contain blanks and brackets.
    private static func fields(ofStat path: String) -> [Substring] {
        let text = content(path)
        guard let end = text.lastIndex(of: ")") else { return [] }
        return text[text.index(after: end)...].split(separator: " ")
    }

    /// Returns a file's text without its last line break; empty if the file cannot be read.
    private static func content(_ path: String) -> String {
        let text = (try? Files.text(path)) ?? ""
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
