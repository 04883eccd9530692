import Model

// The values of JSON output. An absent value is null, unless its member is left out.

extension JSONValue {
    static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }

    /// Encodes a report about an account, after the account's name.
    init(_ report: some Encodable, of account: String) {
        guard case .object(let members) = JSONValue(report) else {
            self = .null
            return
        }
        self = .object([Member(name: "account", value: .string(account))] + members)
    }

    static func string(_ text: String?) -> JSONValue { text.map { JSONValue.string($0) } ?? .null }
    static func integer(_ number: Int64?) -> JSONValue { number.map { JSONValue.integer($0) } ?? .null }
    static func integer(_ number: Int) -> JSONValue { .integer(Int64(number)) }
    static func id(_ id: (some RowID)?) -> JSONValue { id.map { .integer($0.number) } ?? .null }
    static func time(_ time: Timestamp?) -> JSONValue { .string(time?.description) }
    static func strings(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map { JSONValue.string($0) }) }
}
