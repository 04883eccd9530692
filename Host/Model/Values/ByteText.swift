import Glibc

/// A text that is equal only to a text with the same bytes.
///
/// Swift's `String` finds the NFC and NFD forms of a name equal. A file system, SQLite and a server do not. Paths,
/// names, ids and ETags are therefore types of their own, which compare, order and hash their UTF-8 bytes.
public protocol ByteText: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The text as it is stored and shown.
    var text: String { get }
}

extension ByteText {
    public var description: String { text }

    @inlinable
    public static func == (a: Self, b: Self) -> Bool { a.text.hasSameBytes(as: b.text) }

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.text.compareBytes(with: b.text) < 0 }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xff as UInt8)
    }
}

/// A byte text that is encoded as a single string.
public protocol CodableText: ByteText, Codable {
    /// Creates a value from its text.
    /// - Throws: The reason why no value has the text.
    init(_ text: String) throws
}

extension CodableText {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do { try self.init(text) } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no \(Self.self)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension String {
    /// Tells whether both texts have the same UTF-8 bytes. `==` would compare canonical equivalence.
    public func hasSameBytes(as other: String) -> Bool {
        withBytes { own in other.withBytes { own.count == $0.count && orderOfBytes(own, $0) == 0 } }
    }

    /// Tells whether these are the text's UTF-8 bytes.
    package func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        withBytes { $0.count == bytes.count && orderOfBytes($0, bytes) == 0 }
    }

    /// Compares the UTF-8 bytes of both texts.
    /// - Returns: A negative number if this text comes first, a positive one if the other does, 0 if they are the same.
    public func compareBytes(with other: String) -> Int {
        withBytes { own in other.withBytes { orderOfBytes(own, $0) } }
    }

    /// Calls `body` with the UTF-8 bytes of the text, which are valid during the call.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let result = try utf8.withContiguousStorageIfAvailable { try body(UnsafeRawBufferPointer($0)) }
        if let result { return result }
        var text = self
        return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    }
}

/// Compares bytes as ``Swift/String/compareBytes(with:)`` does.
func orderOfBytes(_ bytes: UnsafeRawBufferPointer, _ others: UnsafeRawBufferPointer) -> Int {
    guard let first = bytes.baseAddress, let second = others.baseAddress else { return bytes.count - others.count }
    let order = memcmp(first, second, min(bytes.count, others.count))
    return order == 0 ? bytes.count - others.count : Int(order)
}

/// The id that Larder gives an item, stable from placeholder through moves: 32 lower-case hexadecimal digits.
public struct LocalID: CodableText {
    public let text: String
    /// Creates an id from its text.
    public init(_ text: String) { self.text = text }

    /// Creates a new id of 128 bits. The first 48 bits are the machine's time in milliseconds, so that ids that are
    /// created together are neighbours in an index, and a batch of them touches few of the index's pages. The other
    /// bits are random. Nothing relies on the order.
    public static func random() -> LocalID {
        let milliseconds = UInt64(clamping: (HostRandom.source?.now() ?? .now()).nanoseconds / 1_000_000)
        return LocalID(hex(milliseconds, digits: 12) + randomHex(bytes: 10))
    }
}

/// The server's id of an item (`oc:id`), or a stable substitute where the server has none.
public struct FileID: ByteText {
    public let text: String
    /// Creates an id from its text.
    public init(_ text: String) { self.text = text }

    /// Creates a substitute from an item's path. Without `oc:id` the path is the item's identity, so a remote move is a
    /// delete and a create.
    public static func substitute(for path: ItemPath) -> FileID { FileID("path:" + path.text) }

    /// Whether the server gave this id. An item that is found elsewhere with such an id has moved.
    public var isFromServer: Bool { !text.utf8.starts(with: "path:".utf8) }
}

/// The id of an item policy: a random UUID in lower case.
public struct PolicyID: CodableText {
    public let text: String
    /// Creates an id from its text.
    public init(_ text: String) { self.text = text }

    /// Creates a random id (RFC 9562, version 4).
    public static func random() -> PolicyID { PolicyID(randomUUID()) }
}

/// The id of an entry in the journal of policies' changes.
public struct PolicyChangeID: ByteText {
    public let text: String
    /// Creates an id from its text.
    public init(_ text: String) { self.text = text }

    /// Creates a random id (RFC 9562, version 4).
    public static func random() -> PolicyChangeID { PolicyChangeID(randomUUID()) }
}

/// The id of a claim, which the claim's creator may choose.
public struct ClaimID: CodableText {
    public let text: String
    /// Creates an id from its text.
    public init(_ text: String) { self.text = text }

    /// Creates a random id: 16 lower-case hexadecimal digits.
    public static func random() -> ClaimID { ClaimID(randomHex(bytes: 8)) }
}

/// The kind of policy that a processor processes, such as `availableOffline`.
public struct PolicyKind: CodableText {
    public let text: String
    /// Creates a kind from its name.
    public init(_ text: String) { self.text = text }

    /// The kind of the policies that keep items available offline.
    public static let availableOffline = PolicyKind("availableOffline")
}

/// The id of a plugin in reverse domain notation, such as `org.larder.available-offline`.
public struct PluginID: CodableText {
    public let text: String
    /// Creates an id from its text.
    public init(_ text: String) { self.text = text }

    /// Creates an id from a short or full name. The short name of a first-party plugin stands for `org.larder.<name>`.
    public init(shortOrFull name: String) {
        text = name.utf8.contains(UInt8(ascii: ".")) ? name : "org.larder." + name
    }

    /// The name of the plugin in the config and on the command line.
    public var shortName: String {
        text.utf8.starts(with: "org.larder.".utf8) ? String(text.dropFirst("org.larder.".count)) : text
    }
}

/// The requester of an item's copy: a person, the available-offline plugin, or another plugin by its id.
public struct DownloadTrigger: ByteText {
    public let text: String
    /// Creates a trigger from its text.
    public init(_ text: String) { self.text = text }

    /// A person.
    public static let user = DownloadTrigger("user")
    /// The available-offline plugin.
    public static let availableOffline = DownloadTrigger("availableOffline")
}

extension SingleValueDecodingContainer {
    /// Decodes a value from its name.
    func decode<Value>(named value: (String) -> Value?) throws -> Value {
        let name = try decode(String.self)
        guard let value = value(name) else {
            throw DecodingError.dataCorruptedError(in: self, debugDescription: "there is no \(Value.self) `\(name)`")
        }
        return value
    }
}

/// Returns random bytes as lower-case hexadecimal digits.
public func randomHex(bytes count: Int) -> String {
    let random = HostRandom()
    return stride(from: 0, to: count * 2, by: 16).reduce(into: "") { text, start in
        text += hex(random.next(), digits: min(16, count * 2 - start))
    }
}

/// Returns the last digits of a number in lower-case hexadecimal, with leading zeros.
private func hex(_ number: UInt64, digits count: Int) -> String {
    String(unsafeUninitializedCapacity: count) { digits in
        let alphabet: StaticString = "0123456789abcdef"
        for index in 0..<count {
            digits[index] = alphabet.utf8Start[Int(number >> UInt64(4 * (count - 1 - index)) & 15)]
        }
        return count
    }
}

private func randomUUID() -> String {
    var digits = Array(randomHex(bytes: 16).utf8)
    digits[12] = UInt8(ascii: "4")
    digits[16] = Array("89ab".utf8)[Int(digits[16] % 4)]
    for position in [20, 16, 12, 8] { digits.insert(UInt8(ascii: "-"), at: position) }
    return String(decoding: digits, as: UTF8.self)
}

extension PluginID {
    /// Creates the id of the plugin whose copies have a trigger.
    public init(of trigger: DownloadTrigger) {
        self = trigger == .availableOffline ? PluginID(shortOrFull: "available-offline") : PluginID(trigger.text)
    }
}

extension DownloadTrigger {
    /// Creates the trigger of the copies that a plugin requests.
    public init(of plugin: PluginID) {
        self = plugin == PluginID(shortOrFull: "available-offline") ? .availableOffline : DownloadTrigger(plugin.text)
    }
}
