import DemoServer
import HTTPTypes

extension Answer {
    /// Applies the faults that concern the entries of a file listing.
    /// - Parameter foreign: makes an entry whose address ends with the given bytes.
    mutating func spoilListing(_ faults: [Fault.Kind], foreign: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        var empty = false
        var truncated = false
        var endings: [[UInt8]] = []
        for fault in faults {
            switch fault {
            case .emptyListing: empty = true
            case .truncatedListing: truncated = true
            case .foreignEntries(let hrefs): endings += hrefs
            default: break
            }
        }
        guard empty || truncated || !endings.isEmpty else { return }
        let proper = self
        body = .chunks { [empty, truncated, endings] sink in
            var whole: [UInt8] = []
            try await proper.send { whole += $0 }
            let listing = SplitListing(whole)
            if empty {
                try await sink(Array(listing.head + listing.tail))
                return
            }
            // The cut is in the middle of a tag, so that no reader can take the listing for a whole answer.
            let half = (listing.entries.count + 1) / 2
            let isCut = truncated && half < listing.entries.count
            var entries = Array(listing.entries.prefix(isCut ? half : .max))
            entries.insert(contentsOf: endings.map { foreign($0)[...] }, at: min(1, entries.count))
            let end = isCut ? Array("<d:response><d:hr".utf8)[...] : listing.tail
            try await sink(Array(listing.head + entries.joined() + end))
        }
    }

    /// Applies the faults that concern the text of a calendar multistatus.
    mutating func spoilMultistatus(_ faults: [Fault.Kind], _ writer: XMLWriter) {
        guard status.code == 207, case .bytes(let bytes) = body else { return }
        var text = String(decoding: bytes, as: UTF8.self)
        for fault in faults {
            switch fault {
            case .documentType(let declaration): text = Self.withType(declaration, text, writer)
            // The cut is in the middle of a tag, so that no reader can take the multistatus for a whole answer.
            case .truncatedListing:
                let half = text[..<text.index(text.startIndex, offsetBy: text.count / 2)]
                text = half[..<(half.lastIndex(of: "<") ?? half.startIndex)] + "<d:hr"
            default: break
            }
        }
        body = .bytes(Array(text.utf8))
    }

    /// Inserts a declaration before the root, and replaces each name and sync token by `&e;`.
    private static func withType(_ declaration: String, _ text: String, _ writer: XMLWriter) -> String {
        var parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
        for name in [XMLName.dav("displayname"), .dav("sync-token")] {
            let (start, end) = ("<\(writer.tag(name))>", "</\(writer.tag(name))>")
            let pieces = parts[1].components(after: start)
            parts[1] = pieces.dropFirst().reduce(pieces[0]) { done, piece in
                let rest = piece.components(after: end).dropFirst().joined(separator: end)
                return done + start + "&e;" + end + rest
            }
        }
        return parts[0] + "\n" + declaration + "\n" + parts[1]
    }
}

/// A file listing, split into its head, its entries and its tail.
private struct SplitListing {
    let head: ArraySlice<UInt8>
    let entries: [ArraySlice<UInt8>]
    let tail: ArraySlice<UInt8>

    init(_ whole: [UInt8]) {
        let starts = whole.ranges(of: Array("<d:response>".utf8)).map(\.lowerBound)
        let end = whole.lastIndex(of: UInt8(ascii: "<")) ?? whole.endIndex
        head = whole[..<(starts.first ?? end)]
        entries = zip(starts, starts.dropFirst() + [end]).map { whole[$0..<$1] }
        tail = whole[end...]
    }
}

extension String {
    /// Returns the parts of the text between the occurrences of `mark`.
    fileprivate func components(after mark: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let found = rest.firstRange(of: mark) {
            parts.append(String(rest[..<found.lowerBound]))
            rest = rest[found.upperBound...]
        }
        return parts + [String(rest)]
    }
}
