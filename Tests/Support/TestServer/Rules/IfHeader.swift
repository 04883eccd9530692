/// The `If` field of WebDAV (RFC 4918, section 10.4).
struct IfHeader: Sendable {
    private enum Condition: Sendable {
        case token(String, isNegated: Bool)
        case etag(String, isNegated: Bool)
    }

    private struct List: Sendable {
        /// The address of the item that the list is for; nil for the item of the request.
        var resource: String?
        var conditions: [Condition]
    }

    private var lists: [List] = []

    /// Reads a field; nil if the field is malformed.
    init?(_ field: String) {
        var rest = field[...]
        var resource: String?
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard let first = rest.popFirst() else { break }
            if first == "<", let end = rest.firstIndex(of: ">") {
                resource = String(rest[..<end])
                rest = rest[end...].dropFirst()
            } else if first == "(", let conditions = Self.conditions(&rest) {
                lists.append(List(resource: resource, conditions: conditions))
            } else {
                return nil
            }
        }
        if lists.isEmpty { return nil }
    }

    /// The lock tokens that the request submits.
    var tokens: Set<String> {
        Set(
            lists.flatMap(\.conditions).compactMap { condition in
                if case .token(let token, _) = condition { token } else { nil }
            })
    }

    /// Tells whether one of the lists is met.
    /// - Parameters:
    ///   - isHeld: Tells whether a token is that of a lock which covers a resource; nil stands for the request's item.
    ///   - etag: Returns the ETag of a resource.
    func isMet(_ isHeld: (String, String?) -> Bool, etag: (String?) -> String?) -> Bool {
        lists.contains { list in
            list.conditions.allSatisfy { condition in
                switch condition {
                case .token(let token, let isNegated): isHeld(token, list.resource) != isNegated
                case .etag(let wanted, let isNegated):
                    (etag(list.resource) == wanted && !wanted.hasPrefix("W/")) != isNegated
                }
            }
        }
    }

    /// Reads conditions up to the closing parenthesis.
    private static func conditions(_ rest: inout Substring) -> [Condition]? {
        var found: [Condition] = []
        var isNegated = false
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            if rest.hasPrefix("Not") {
                (isNegated, rest) = (true, rest.dropFirst(3))
                continue
            }
            switch rest.popFirst() {
            case ")": return found.isEmpty || isNegated ? nil : found
            case "<":
                guard let end = rest.firstIndex(of: ">") else { return nil }
                found.append(.token(String(rest[..<end]), isNegated: isNegated))
                rest = rest[end...].dropFirst()
            case "[":
                guard let end = rest.firstIndex(of: "]") else { return nil }
                found.append(.etag(String(rest[..<end]), isNegated: isNegated))
                rest = rest[end...].dropFirst()
            default: return nil
            }
            isNegated = false
        }
    }
}
