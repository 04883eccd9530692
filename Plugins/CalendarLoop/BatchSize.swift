/// The number of objects to request at once, given what the server refused. A value without I/O.
struct BatchSize {
    private static let most = 100
    /// The number of objects refused alone that means that the server refuses all.
    private static let mostAlone = 5

    private(set) var count = Self.most
    private var refusedAlone = 0
    /// Whether not even single objects can be requested.
    private(set) var isHopeless = false

    /// Notes that the server refused a request for so many objects. Half as many are requested next. If one is refused
    /// alone, that object is the cause where other requests have succeeded.
    /// - Parameter worked: Whether a request has succeeded.
    mutating func refused(_ number: Int, worked: Bool) {
        guard number == 1 else {
            count = number / 2
            return
        }
        refusedAlone += 1
        isHopeless = !worked || refusedAlone >= Self.mostAlone
        count = Self.most
    }
}
