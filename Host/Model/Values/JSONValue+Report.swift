extension JSONValue {
    /// Encodes a report as `--json` prints it.
    ///
    /// The members of an object come in the order of the report's coding keys. An absent value is null, and a time is a
    /// text. A member whose name begins with `_` is left out: only the control socket sends it, to Larder's own commands.
    public init(_ report: some Encodable) {
        let encoder = ReportEncoder()
        do { try encoder.encode(report) } catch { assertionFailure("\(type(of: report)) is no report: \(error)") }
        self = encoder.json
    }
}

/// An encoder and the value that it has encoded. It is a class because containers write to it as long as they like.
private final class ReportEncoder: Encoder, SingleValueEncodingContainer {
    private enum Content {
        case value(JSONValue)
        case members([(name: String, value: ReportEncoder)])
        case elements([ReportEncoder])
    }

    private var content = Content.members([])

    var codingPath: [any CodingKey] { [] }
    let userInfo: [CodingUserInfoKey: Any] = Timestamp.asText.map { [$0: true] } ?? [:]

    var json: JSONValue {
        switch content {
        case .value(let value): value
        case .members(let members):
            .object(
                // The compiler names a value without a name in a case `_0`.
                members.filter { !$0.name.hasPrefix("_") || $0.name.dropFirst().first?.isNumber ?? true }.map {
                    JSONValue.Member(name: $0.name, value: $0.value.json)
                })
        case .elements(let elements): .array(elements.map(\.json))
        }
    }

    var count: Int { if case .elements(let elements) = content { elements.count } else { 0 } }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if count == 0 { content = .elements([]) }
        return Elements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { content = .value(.null) }

    func encode(_ value: some Encodable) throws {
        switch value {
        case let text as String: content = .value(.string(text))
        case let flag as Bool: content = .value(.bool(flag))
        case let number as any BinaryInteger: content = .value(.integer(Int64(clamping: number)))
        case let number as any BinaryFloatingPoint: content = .value(.number(Double(number)))
        default: try value.encode(to: self)
        }
    }

    /// Returns the encoder of a new member.
    func member(_ key: any CodingKey) -> ReportEncoder {
        let value = ReportEncoder()
        var members: [(name: String, value: ReportEncoder)] = []
        if case .members(let earlier) = content { members = earlier }
        // The list has one owner, so that it grows in place.
        content = .value(.null)
        members.append((key.stringValue, value))
        content = .members(members)
        return value
    }

    /// Returns the encoder of a new element.
    func element() -> ReportEncoder {
        let value = ReportEncoder()
        var elements: [ReportEncoder] = []
        if case .elements(let earlier) = content { elements = earlier }
        content = .value(.null)
        elements.append(value)
        content = .elements(elements)
        return value
    }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private enum Super: String, CodingKey { case `super` }

    let encoder: ReportEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoder.member(key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encoder.member(key).encode(value) }
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try put(value, key) }
    // Without these, the standard library's would leave out what is absent.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try put(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try put(value, key) }
    private func put(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }
    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        encoder.member(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.member(key).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { encoder.member(Super.super) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.member(key) }
}

private struct Elements: UnkeyedEncodingContainer {
    let encoder: ReportEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { encoder.count }

    func encodeNil() { encoder.element().encodeNil() }
    func encode(_ value: some Encodable) throws { try encoder.element().encode(value) }
    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
        encoder.element().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.element().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.element() }
}
