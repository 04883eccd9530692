/// The name that was probably meant by one that is none: the known one that fewest letters to change, add, drop or swap tell
/// apart from it. Letter case counts for nothing.
/// - Parameter ifLikely: whether one is named only if fewer than half of the letters tell it apart.
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

/// How many bytes must be exchanged, added, dropped or swapped with their neighbour to make one text of the other (optimal
/// string alignment).
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
