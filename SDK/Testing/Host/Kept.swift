/// Values by their ids, in the order in which the ids came.
struct Kept<ID: Hashable, Value> {
    private var values: [ID: (place: Int, value: Value)] = [:]
    private var last = 0
    /// The values in their order; nil if they changed since they were asked for.
    private var sorted: [Value]?

    subscript(id: ID) -> Value? { values[id]?.value }

    var count: Int { values.count }

    /// All values, in their order.
    var all: [Value] {
        mutating get {
            if let sorted { return sorted }
            let all = values.values.sorted { $0.place < $1.place }.map(\.value)
            sorted = all
            return all
        }
    }

    /// Puts a value in the place of the one with its id, or behind all others.
    mutating func put(_ value: Value, _ id: ID) {
        last += 1
        values[id] = (values[id]?.place ?? last, value)
        sorted = nil
    }

    mutating func remove(_ id: ID) {
        values[id] = nil
        sorted = nil
    }
}
