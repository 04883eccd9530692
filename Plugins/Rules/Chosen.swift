import LarderSDK

/// Files that a run chose among those of the rules that keep the newest of each folder.
///
/// Few are named one by one, so that the host hands over these alone. Of many the host hands over all that the rules are
/// for, and the plugin leaves out the others.
struct Chosen {
    /// The most files that a condition names: their ids take a fraction of the longest condition.
    private static let mostNamed = 5_000

    private var ids: [String] = []
    private var others: Set<[UInt8]> = []

    mutating func take(_ id: borrowing Text, isChosen: Bool) {
        if isChosen { ids.append(id.copied()) } else { others.insert(id.bytes) }
    }

    /// Returns the condition of the files that the host hands over; nil if there are none.
    /// - Parameter all: The condition of all that the rules are for.
    func condition(of all: Condition?) -> Condition? {
        guard !ids.isEmpty else { return nil }
        return ids.count > Self.mostNamed ? all : Operand<String>.localID.isIn(ids)
    }

    /// Tells whether a file that the host handed over was left out of the choice.
    func leavesOut(_ id: borrowing Text) -> Bool { ids.count > Self.mostNamed && others.contains(id.bytes) }
}

extension Text {
    /// A copy for a key. Strings are not used: two spellings of an accented letter are equal strings.
    var bytes: [UInt8] { utf8.withUnsafeBufferPointer { Array($0) } }
}
