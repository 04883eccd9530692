import Model
import TestSupport

/// What a follower has of what it was told.
protocol Replayed: Sendable {
    /// The items, in their order, as texts that are equal if the items are.
    var content: [String] { get }
    /// Begins a connection.
    /// - Parameter id: The last event that the follower names; nil if it names none.
    mutating func begin(after id: ChangePosition?)
    /// Takes an event.
    /// - Throws: `SetupError` if the event is none that may come now.
    mutating func take(_ data: JSONValue) throws
}

/// The list that change sets come to, as a reader has it that knows Larder's guide alone.
struct ReplayedList: Replayed {
    private var items: [JSONValue] = []
    /// Whether the next event is the first one of its connection.
    private var isFirst = true
    private var goesOn = false
    let limit: Int?

    /// - Parameter limit: The largest number of items of the query.
    init(limit: Int? = nil) { self.limit = limit }

    var content: [String] { items.map { $0.without(["position", "oldPosition"]).text } }

    mutating func begin(after id: ChangePosition?) {
        (isFirst, goesOn) = (true, id != nil)
        // Who names no event knows nothing.
        if id == nil { items = [] }
    }

    mutating func take(_ told: JSONValue) throws {
        let isAnew = told["anew"] == .bool(true)
        guard isAnew == (isFirst && goesOn) else { throw SetupError("anew is \(isAnew) in \(told.text.prefix(300))") }
        if isAnew { items = [] }
        isFirst = false
        guard let changes = told["changeSet"] else { throw SetupError("no change set: \(told.text.prefix(300))") }
        func entries(_ name: String) throws -> [JSONValue] {
            guard case .array(let entries)? = changes[name] else { throw SetupError("no \(name)") }
            return entries
        }
        let (removed, moved) = (try entries("removed"), try entries("moved"))
        let (inserted, updated) = (try entries("inserted"), try entries("updated"))
        var leaving: [(place: Int, item: JSONValue)] = []
        for item in removed { leaving.append((try item.number("position"), item)) }
        for item in moved { leaving.append((try item.number("oldPosition"), item)) }
        let old = items
        func check(_ item: JSONValue, isAt place: Int, in list: [JSONValue]) throws {
            guard list.indices.contains(place), list[place]["localID"] == item["localID"] else {
                throw SetupError("\(item.text.prefix(200)) is not at \(place) of \(list.count)")
            }
        }
        for (place, item) in leaving.sorted(by: { $0.place > $1.place }) {
            try check(item, isAt: place, in: items)
            items.remove(at: place)
        }
        var coming: [(place: Int, item: JSONValue)] = []
        for item in inserted + moved { coming.append((try item.number("position"), item)) }
        for (place, item) in coming.sorted(by: { $0.place < $1.place }) {
            guard place <= items.count else {
                throw SetupError("\(place) is beyond \(items.count): \(item.text.prefix(200))")
            }
            items.insert(item, at: place)
        }
        for item in updated {
            let place = try item.number("position")
            try check(item, isAt: place, in: items)
            try check(item, isAt: try item.number("oldPosition"), in: old)
            items[place] = item
        }
        guard Set(items.map { $0["localID"] }).count == items.count else {
            throw SetupError("an item is twice in the list: \(told.text.prefix(2_000))")
        }
        guard items.count <= limit ?? .max else { throw SetupError("\(items.count) items are above the limit") }
    }
}

extension JSONValue {
    /// The integer of a member.
    func number(_ name: String) throws -> Int {
        guard case .integer(let number)? = self[name] else { throw SetupError("no \(name): \(text.prefix(200))") }
        return Int(number)
    }

    /// The object without some members.
    func without(_ names: Set<String>) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !names.contains($0.name) })
    }
}
