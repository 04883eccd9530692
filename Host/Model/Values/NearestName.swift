/// The name that was probably meant by one that is none: the known one that fewest letters tell apart from it, if they are
/// fewer than half of it. Letter case counts for little.
public func nearestName(to name: String, among known: [String]) -> String? {
    let wanted = Array(name.lowercased().utf8.prefix(64))
    let rated = known.map { (name: $0, distance: editDistance(wanted, Array($0.lowercased().utf8))) }
    guard let best = rated.min(by: { $0.distance < $1.distance }), best.distance * 2 < max(wanted.count, 2) else {
        return nil
    }
    return best.name
}

/// How many bytes must be added, dropped or exchanged to make one text of the other (Levenshtein).
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var row = Array(0...b.count)
    for (i, byte) in a.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, other) in b.enumerated() {
            let exchanged = diagonal + (byte == other ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(exchanged, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}
