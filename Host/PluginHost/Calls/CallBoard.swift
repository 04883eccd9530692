import CLinux
import Glibc
public import Model
import Synchronization

/// The calls that are under way into an account's plugins, in a mapped file of the vault. Whatever ends the process,
/// the next process finds the calls in this file.
///
/// Unchecked: the mapping stays at its address until the board is freed. Each part of the mapping belongs to one
/// record.
public final class CallBoard: @unchecked Sendable {
    /// The largest number of plugins whose calls are recorded.
    private static let mostRecords = 256
    /// The bytes of a record: a call, and the last one in which the process was forked.
    static let recordSize = 2 * Int(LINUX_CALL_SIZE)

    private let memory: UnsafeMutableRawPointer
    private let room: Int
    private let taken = Atomic<Int>(0)

    /// Makes a new file. Blocks. Read the old file with ``notes(at:)`` before.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - room: The number of plugins whose calls are to be recorded.
    /// - Throws: `.localIO` if the file cannot be made or the disk has no room for it.
    public init(path: String, room: Int) throws(Failure) {
        self.room = min(max(room, 1), Self.mostRecords)
        let size = self.room * Self.recordSize
        // The old file is never used again, because a call that was given up may still write into it.
        unlink(path)
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        defer { close(descriptor) }
        // A store into a mapped file for which the disk has no room would be a crash.
        let code = posix_fallocate(descriptor, 0, off_t(size))
        guard code == 0 else { throw Self.failure(path, code) }
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else { throw Self.failure(path, errno) }
        self.memory = memory
        linux_add_calls(memory.assumingMemoryBound(to: linux_call.self), UInt32(size / Int(LINUX_CALL_SIZE)))
    }

    deinit {
        linux_remove_calls(memory.assumingMemoryBound(to: linux_call.self))
        munmap(memory, room * Self.recordSize)
    }

    /// A number that tells this start of the machine from all others; 0 if the kernel does not say it. A call that was
    /// under way when the machine stopped says nothing about the plugin.
    static let boot: UInt64 = {
        var bytes = [UInt8](repeating: 0, count: 36)
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        guard read(descriptor, &bytes, bytes.count) == bytes.count else { return 0 }
        return UInt64(String(decoding: bytes, as: UTF8.self).replacing("-", with: "").prefix(16), radix: 16) ?? 0
    }()

    /// Returns a record for a plugin's calls; nil if there is no room for another one.
    func record(of plugin: PluginID, in library: String, mark: String? = nil) -> CallRecord? {
        let number = taken.add(1, ordering: .relaxed).oldValue
        guard number < room else { return nil }
        let call = (memory + number * Self.recordSize).assumingMemoryBound(to: linux_call.self)
        return CallRecord(call, on: self, plugin: plugin, library: library, mark: mark)
    }

    /// Copies a record, which is used again for other calls.
    /// - Returns: Whether there was room for the copy.
    func keep(_ call: UnsafeMutablePointer<linux_call>) -> Bool {
        let number = taken.add(1, ordering: .relaxed).oldValue
        guard number < room else { return false }
        let copy = memory + number * Self.recordSize
        copy.copyMemory(from: call, byteCount: Int(LINUX_CALL_SIZE))
        linux_call_end(copy.assumingMemoryBound(to: linux_call.self))
        return true
    }

    /// Returns the calls that were under way when the process with this board ended. Blocks.
    public static func notes(at path: String) -> [CallNote] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let size = Int(LINUX_CALL_SIZE)
        let part = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        defer { part.deallocate() }
        var notes: [CallNote] = []
        for number in 0..<mostRecords * recordSize / size {
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
            "the list of running calls into plugins cannot be kept in \(path): \(String(cString: strerror(code)))")
    }
}
