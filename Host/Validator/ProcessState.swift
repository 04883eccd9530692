import CLinux
import Glibc

/// What a process has and how it is set, as far as a plugin's entry must leave it alone.
struct ProcessState {
    private var threads: Set<String>
    private var files: [String: String]
    private var signals: [Int32: UInt]
    private var environment: [String]
    private var folder: String
    private var locale: String
    private var mask: mode_t

    init() {
        threads = Set(Self.names(in: "/proc/self/task"))
        files = Dictionary(
            uniqueKeysWithValues: Self.names(in: "/proc/self/fd").compactMap { name in
                Self.target(of: "/proc/self/fd/\(name)").map { (name, $0) }
            })
        signals = [:]
        for signal in Int32(1)..<65 {
            var action = sigaction()
            guard sigaction(signal, nil, &action) == 0 else { continue }
            signals[signal] = unsafeBitCast(action.__sigaction_handler, to: UInt.self)
        }
        environment = []
        var variable = environ
        while let text = variable.pointee {
            environment.append(String(cString: text))
            variable += 1
        }
        folder =
            getcwd(nil, 0).map { text in
                defer { free(text) }
                return String(cString: text)
            } ?? ""
        locale = setlocale(LC_ALL, nil).map { String(cString: $0) } ?? ""
        mask = umask(0)
        umask(mask)
    }

    /// Says what changed since another state; nil if nothing did.
    func change(since before: ProcessState) -> String? {
        if !threads.isSubset(of: before.threads) { return "it started a thread" }
        if let file = files.first(where: { before.files[$0.key] != $0.value }) {
            return file.value.hasPrefix("socket:") ? "it opened a socket" : "it opened \(file.value)"
        }
        if let closed = before.files.first(where: { files[$0.key] == nil }) { return "it closed \(closed.value)" }
        return changedSetting(since: before)
    }

    /// Says what changed of the process's settings since another state: signals, environment, folder, locale and umask.
    func changedSetting(since before: ProcessState) -> String? {
        for signal in Int32(1)..<65 where signals[signal] != before.signals[signal] {
            return "it changed what happens at \(String(cString: linux_signal_name(signal)))"
        }
        if environment != before.environment { return "it changed the environment" }
        if folder != before.folder { return "it changed the working folder" }
        if locale != before.locale { return "it changed the locale" }
        if mask != before.mask { return "it changed the umask" }
        return nil
    }

    /// The number of threads of this process.
    static var threadCount: Int { names(in: "/proc/self/task").count }

    /// The number of open descriptors of this process.
    static var fileCount: Int { names(in: "/proc/self/fd").count }

    /// The bytes that are allocated in this process.
    private static var allocated: Int { Int(linux_allocated_memory()) }

    /// The growth of 100 rounds that keep nothing, at most: a block of malloc takes 32 bytes at least.
    static let smallGrowth = 3_200

    /// The bytes that are allocated when nothing changes any more, or after a second.
    private static func allocatedAtRest() -> Int {
        var (last, unchanged) = (allocated, 0)
        for _ in 0..<200 where unchanged < 4 {
            _ = poll(nil, 0, 5)
            let now = allocated
            (last, unchanged) = (now, now == last ? unchanged + 1 : 0)
        }
        return last
    }

    /// Measures how much more memory is allocated after some work: the middle of three measurements.
    ///
    /// The host's own tasks have memory until they had their turn, which takes a while on a busy machine. So each
    /// measurement begins when nothing changes, and ends when the growth is small, or after some seconds.
    /// - Parameter small: The growth in bytes that is not waited for to go; `.max` waits for none.
    static func growth(small: Int, of work: () throws -> Void) rethrows -> Int {
        var growths: [Int] = []
        for _ in 0..<3 {
            let before = allocatedAtRest()
            try work()
            var growth = allocatedAtRest() - before
            for _ in 0..<500 where growth >= small {
                _ = poll(nil, 0, 10)
                growth = allocated - before
            }
            growths.append(growth)
            // A second one as small decides.
            if growths.count == 2, growths.allSatisfy({ $0 < small }) { break }
        }
        return growths.sorted()[1]
    }

    private static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        let own = String(dirfd(listing))
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != own, !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private static func target(of link: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = bytes.withUnsafeMutableBytes { bytes in
            readlink(link, bytes.bindMemory(to: CChar.self).baseAddress!, bytes.count)
        }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
