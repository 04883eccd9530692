import CLarder
import Glibc

/// How a fake host lends items to a plugin, beyond what a plugin has to expect at least.
package struct Lending: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Behind the last byte of a text or struct there is no memory.
    package static let withoutEnd = Lending(rawValue: 1)
    /// The memory cannot be written.
    package static let readOnly = Lending(rawValue: 2)
    /// The memory cannot be read any more when the call has returned.
    package static let revoked = Lending(rawValue: 4)
    /// The structs of items and policies are larger than this version knows them.
    package static let larger = Lending(rawValue: 8)
    /// The members of fields that the processor does not name are no values: a text that cannot be read, a number that
    /// makes no sense.
    package static let trapped = Lending(rawValue: 16)
}

/// Memory in pages of its own, before one that cannot be read.
final class LentPages {
    private static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
    /// The place of the bytes, which end where the memory ends. A struct's size is a multiple of its alignment.
    let start: UnsafeMutableRawPointer
    private let memory: UnsafeMutableRawPointer
    private let count: Int

    init(_ size: Int) {
        count = (max(1, size) + Self.pageSize - 1) / Self.pageSize * Self.pageSize
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let memory = mmap(nil, count + Self.pageSize, PROT_READ | PROT_WRITE, flags, -1, 0), memory != MAP_FAILED
        else { fatalError("no memory") }
        self.memory = memory
        mprotect(memory + count, Self.pageSize, PROT_NONE)
        start = memory + (count - size)
    }

    func protect(_ protection: Int32) { mprotect(memory, count, protection) }

    /// Frees the memory.
    /// - Parameter isRevoked: Whether the addresses are never used again, so that whoever still reads there is found.
    func free(isRevoked: Bool) {
        if isRevoked { protect(PROT_NONE) } else { munmap(memory, count + Self.pageSize) }
    }

    /// The address of a text that cannot be read.
    nonisolated(unsafe) static let trap: UnsafePointer<CChar> = {
        let page = LentPages(1)
        page.protect(PROT_NONE)
        return UnsafePointer(page.start.assumingMemoryBound(to: CChar.self))
    }()
}

extension larder_item {
    /// Makes the members of all fields outside of a mask no values.
    mutating func trap(outside fields: UInt64) {
        func isOutside(_ field: Int32) -> Bool { fields >> UInt64(field) & 1 == 0 }
        // The host itself reads the path.
        for (field, member) in FakeItem.textFields where field != LARDER_FIELD_PATH && isOutside(field) {
            self[keyPath: member] = larder_str(ptr: LentPages.trap, len: 1 << 20)
        }
        let number: Int64 = 0x25A5_A5A5_A5A5_A5A5
        if isOutside(LARDER_FIELD_SIZE) { size = number }
        if isOutside(LARDER_FIELD_LAST_MODIFIED) { last_modified = number }
        if isOutside(LARDER_FIELD_LAST_USED) { last_used = number }
        let numbers: [(field: Int32, member: WritableKeyPath<larder_item, UInt32>)] = [
            (LARDER_FIELD_TYPE, \.type), (LARDER_FIELD_CLOUD_STATUS, \.cloud_status), (LARDER_FIELD_REMOVED, \.removed),
            (LARDER_FIELD_FAVORITE, \.favorite), (LARDER_FIELD_REMOTE_VERSION, \.remote_version),
            (LARDER_FIELD_AVAILABLE_OFFLINE, \.available_offline), (LARDER_FIELD_SYNC_ACTIVITY, \.sync_activity),
            (LARDER_FIELD_CLAIMS, \.claims),
        ]
        for (field, member) in numbers where isOutside(field) { self[keyPath: member] = 1 }
    }
}
