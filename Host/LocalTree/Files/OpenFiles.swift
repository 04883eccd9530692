import Glibc

/// The use of files by processes according to `/proc`, for files without leases.
package enum OpenFiles {
    package enum Answer: Hashable {
        case unused
        case read
        case written
        /// A process could not be inspected.
        case unknown
    }

    /// Searches all processes for open or mapped files with this device and inode. The descriptor `except` of this
    /// process is left out.
    static func use(of file: stat, except: Int32) -> Answer {
        guard let processes = entries(of: "/proc") else { return .unknown }
        var answer = Answer.unused
        for process in processes where process.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            let isOwn = pid_t(process) == getpid()
            switch use(of: file, in: "/proc/\(process)", except: isOwn ? except : nil) {
            case .written: return .written
            case .unknown: answer = .unknown
            case .read: if answer == .unused { answer = .read }
            case .unused: break
            }
        }
        return answer
    }

    /// Returns the ids of all processes.
    static func processes() -> [pid_t] { (entries(of: "/proc") ?? []).compactMap { pid_t($0) } }

    /// Returns the files that a process has open. The result is empty if the process cannot be inspected.
    static func files(of process: pid_t) -> [FileNumber] {
        (entries(of: "/proc/\(process)/fd") ?? []).compactMap { descriptor in
            var info = stat()
            return stat("/proc/\(process)/fd/\(descriptor)", &info) == 0 ? FileNumber(info) : nil
        }
    }

    private static func use(of file: stat, in process: String, except: Int32?) -> Answer {
        guard let descriptors = entries(of: process + "/fd") else {
            return errno == ENOENT || errno == ESRCH ? .unused : .unknown
        }
        var answer = Answer.unused
        for descriptor in descriptors where Int32(descriptor) != except {
            var target = stat()
            var link = stat()
            let path = "\(process)/fd/\(descriptor)"
            guard stat(path, &target) == 0, target.st_ino == file.st_ino, target.st_dev == file.st_dev else { continue }
            // The permissions of the link itself show how the file was opened.
            guard lstat(path, &link) == 0 else { return .unknown }
            if link.st_mode & S_IWUSR != 0 { return .written }
            answer = .read
        }
        switch mapping(of: file, in: process) {
        case .unused: return answer
        case let mapped: return mapped
        }
    }

    /// Searches a process's mappings, since a mapping outlives the descriptor from which it was made.
    private static func mapping(of file: stat, in process: String) -> Answer {
        guard let list = fopen(process + "/maps", "re") else {
            return errno == ENOENT || errno == ESRCH ? .unused : .unknown
        }
        defer { fclose(list) }
        var answer = Answer.unused
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, list) > 0, let text = line {
            // A line is `start-end rw-s offset dev inode path`. Only the inode is compared. A file on another device
            // with the same inode can only make the answer more cautious.
            let fields = String(cString: text).split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count >= 5, UInt64(fields[4]) == UInt64(file.st_ino) else { continue }
            if fields[1].hasPrefix("rw"), fields[1].hasSuffix("s") { return .written }
            answer = .read
        }
        return answer
    }

    private static func entries(of folder: String) -> [String]? {
        guard let stream = opendir(folder) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) { names.append(FolderEntry.name(of: entry)) }
        return names
    }
}
