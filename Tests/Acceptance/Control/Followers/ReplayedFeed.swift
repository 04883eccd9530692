import Model
import TestSupport

/// The newest states of all items, as a reader of the change feed has them that began with a list.
struct ReplayedFeed: Replayed {
    private var items: [String: JSONValue] = [:]
    /// All items that the reader ever heard of. A removed one may come back.
    private var known: Set<String>
    /// The number of events of this connection.
    private var count = 0

    /// What the feed does not tell by itself.
    static let untold: Set<String> = ["availableOffline", "claimed", "shares"]

    /// - Parameters:
    ///   - list: The items, at the feed's first position or later.
    ///   - removed: The ids of the removed items that were known then.
    init(_ list: [JSONValue], removed: [JSONValue]) throws {
        for item in list { items[try item.id] = item }
        known = Set(try (list + removed).map { try $0.id })
    }

    var content: [String] { Self.content(Array(items.values)) }

    static func content(_ items: [JSONValue]) -> [String] { items.map { $0.without(untold).text }.sorted() }

    mutating func begin(after id: ChangePosition?) { count = 0 }

    mutating func take(_ told: JSONValue) throws {
        count += 1
        guard try told.number("id") == count else { throw SetupError("not number \(count): \(told.text.prefix(300))") }
        guard told["kind"] != .string("gap") else { throw SetupError("a gap: \(told.text)") }
        guard told["kind"] == .string("item"), let item = told["item"] else { return }
        switch told["change"] {
        case .string("added"): items[try item.id] = item
        case .string("updated"):
            guard known.contains(try item.id) else {
                throw SetupError("not told as added before: \(told.text.prefix(300))")
            }
            items[try item.id] = item
        case .string("removed"): items[try item.id] = nil
        default: throw SetupError("no change: \(told.text.prefix(300))")
        }
        known.insert(try item.id)
    }
}

extension JSONValue {
    /// The item's local id.
    var id: String {
        get throws {
            guard case .string(let id)? = self["localID"] else { throw SetupError("no id: \(text.prefix(200))") }
            return id
        }
    }
}
