import CLinux
import Glibc
public import Model
import Synchronization

/// The calls that are under way into an account's plugins, in a file of the vault that is mapped: whatever ends the process, the next
/// one finds them there.
///
/// Unchecked: the mapping stays where it is until the board goes; each part of it is one record's.
public final class CallBoard: @unchecked Sendable {
    /// More plugins than this are not written down.
    private static let mostRecords = 256

    private let memory: UnsafeMutableRawPointer
    private let room: Int
    private let taken = Atomic<Int>(0)

    /// Makes the file anew. Blocks. To be read by ``notes(at:)`` first.
    /// - Parameter room: for how many plugins.
    /// - Throws: `.localIO` if the file cannot be made or has no room on the disk.
    public init(path: String, room: Int) throws(Failure) {
        self.room = min(max(room, 1), Self.mostRecords)
        let size = self.room * Int(LINUX_CALL_SIZE)
        // Never the old file: a call that was given up may still write into it.
        unlink(path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        defer { close(descriptor) }
        // A store into a mapped file that the disk has no room for would be a crash.
        let code = posix_fallocate(descriptor, 0, off_t(size))
        guard code == 0 else { throw Self.failure(path, code) }
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else { throw Self.failure(path, errno) }
        self.memory = memory
    }

    deinit { munmap(memory, room * Int(LINUX_CALL_SIZE)) }

    /// Nil if there is no room for another.
    func record(of plugin: PluginID, in library: String) -> CallRecord? {
        let number = taken.add(1, ordering: .relaxed).oldValue
        guard number < room else { return nil }
        let call = (memory + number * Int(LINUX_CALL_SIZE)).assumingMemoryBound(to: linux_call.self)
        return CallRecord(call, on: self, plugin: plugin, library: library)
    }

    /// The calls that were under way when the process ended whose board this was. Blocks.
    public static func notes(at path: String) -> [CallNote] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let size = Int(LINUX_CALL_SIZE)
        let part = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        defer { part.deallocate() }
        var notes: [CallNote] = []
        for number in 0..<mostRecords {
            guard pread(descriptor, part, size, off_t(number * size)) == size else { break }
            if let note = CallNote(reading: UnsafeRawPointer(part)) { notes.append(note) }
        }
        return notes
    }

    /// Removes the file. Blocks.
    public static func forget(at path: String) { unlink(path) }

    private static func failure(_ path: String, _ code: Int32) -> Failure {
        Failure(
            .localIO,
            "which calls into plugins are under way cannot be kept in \(path): \(String(cString: strerror(code)))")
    }
}
