/// Returns the known name that was probably meant by an unknown one: the name that is reached with the fewest letters
/// changed, added, dropped or swapped. Letter case does not count.
/// - Parameter ifLikely: Whether to return a name only if fewer than half of the letters differ.
public func nearestName(
    to name: String, among known: some Sequence<String>, ifLikely: Bool = false
) -> String? {
    let wanted = Array(name.lowercased().utf8.prefix(64))
    let rated = known.map { (distance: editDistance(wanted, Array($0.lowercased().utf8)), name: $0) }
    guard let best = rated.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }),
        !ifLikely || best.distance * 2 < max(wanted.count, 2)
    else { return nil }
    return best.name
}

/// Returns how many bytes must be replaced, added, dropped or swapped with their neighbour to turn one text into the
/// other (optimal string alignment).
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
            row.append(cost)
        }
        (beforeLast, last) = (last, row)
    }
    return last[b.count]
}
