public import CLarder

extension larder_str {
    /// The text; nil if it is absent or not UTF-8.
    var text: String? {
        guard let ptr, len <= UInt64(Int.max) else { return nil }
        return String(validating: UnsafeRawBufferPointer(start: ptr, count: Int(len)), as: UTF8.self)
    }

    /// Returns the text, or the beginning of a text that is longer than the limit, with an ellipsis; nil if what is
    /// returned is not UTF-8.
    /// - Parameter limit: The largest number of bytes that are read.
    func text(atMost limit: Int) -> String? {
        guard let ptr, len > UInt64(limit) else { return text }
        let bytes = UnsafeRawBufferPointer(start: ptr, count: limit + 1)
        // A character of several bytes is not cut.
        let end = (limit - 3...limit).last { bytes[$0] & 0xc0 != 0x80 } ?? limit
        return String(validating: bytes[..<end], as: UTF8.self).map { $0 + "…" }
    }

    var isAbsent: Bool { ptr == nil }

    /// Creates a text without copying the bytes, which outlive the value.
    @inlinable
    init(borrowing bytes: UnsafeBufferPointer<UInt8>) {
        self.init(
            ptr: UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self), len: UInt64(bytes.count))
    }
}

extension larder_bytes {
    /// A copy of the bytes; nil if they are absent.
    var copied: [UInt8]? {
        if len == 0 { return ptr == nil ? nil : [] }
        guard let ptr, len <= UInt64(Int.max) else { return nil }
        return Array(UnsafeBufferPointer(start: ptr, count: Int(len)))
    }
}

/// A table that crosses the ABI. Its properties let one function copy every such table (rule I of base.h).
protocol SizedTable {
    static var tableName: String { get }
    /// The table's size in version 1.0. A smaller table cannot be valid.
    static var firstSize: Int { get }
    /// The offset of the table's functions and their names in order. No function may be null.
    static var functions: (offset: Int, names: [String]) { get }
}

extension SizedTable {
    /// Copies the part of the table at an address that both sides know. The bytes beyond the size that the writer gave
    /// are zero.
    static func copy(_ address: UnsafeRawPointer?) throws(Refusal) -> Self {
        guard let address else { throw .nullTable(tableName) }
        let size = Int(address.loadUnaligned(as: UInt32.self))
        guard (firstSize...65_536).contains(size) else {
            throw .badSize(table: tableName, size: size, smallest: firstSize)
        }
        // The functions are checked as bytes first, because Swift assumes that a function in a table is never null.
        let count = MemoryLayout<Self>.size
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: MemoryLayout<Self>.alignment)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        bytes.copyMemory(from: address, byteCount: min(size, count))
        for (index, name) in functions.names.enumerated()
        where bytes.load(fromByteOffset: functions.offset + index * 8, as: UInt.self) == 0 {
            throw .nullFunction(table: tableName, member: name)
        }
        return bytes.load(as: Self.self)
    }
}

extension larder_module: SizedTable {
    static var tableName: String { "module" }
    static var firstSize: Int { 24 }
    static var functions: (offset: Int, names: [String]) { (8, ["describe", "create"]) }
}

extension larder_descriptor: SizedTable {
    static var tableName: String { "descriptor" }
    static var firstSize: Int { 120 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_instance: SizedTable {
    static var tableName: String { "instance" }
    static var firstSize: Int { 48 }
    static var functions: (offset: Int, names: [String]) { (16, ["start", "stop", "destroy", "extension"]) }
}

extension larder_config_schema: SizedTable {
    static var tableName: String { "larder.config-schema/1" }
    static var firstSize: Int { 16 }
    static var functions: (offset: Int, names: [String]) { (8, ["schema"]) }
}

extension larder_explain: SizedTable {
    static var tableName: String { "larder.explain/1" }
    static var firstSize: Int { 16 }
    static var functions: (offset: Int, names: [String]) { (8, ["explain"]) }
}

extension larder_item_policy_processor: SizedTable {
    static var tableName: String { "larder.item-policy-processor/1" }
    static var firstSize: Int { 144 }
    static var functions: (offset: Int, names: [String]) {
        (
            32,
            [
                "triggers", "policy_condition", "match_condition", "cleanup_condition", "update_policies", "preflight",
                "will_enter_trigger", "begin_matching", "perform_action", "end_matching", "begin_cleanup",
                "perform_cleanup", "end_cleanup", "did_pass_trigger",
            ]
        )
    }
}

/// Returns a status's name as traces and logs show it.
func statusName(_ status: larder_status) -> String {
    let names = [
        "ok", "failed", "invalidArgument", "notFound", "alreadyExists", "conflict", "denied", "unsupported", "limit",
        "cancelled", "io", "wrongThread", "wrongState", "internal",
    ]
    return isKnown(status) ? names[Int(-status)] : "unknown \(status)"
}

/// Tells whether a status is in the ABI's list.
func isKnown(_ status: larder_status) -> Bool { (LARDER_STATUS_LAST...LARDER_OK).contains(status) }
