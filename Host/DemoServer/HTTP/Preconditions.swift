package import HTTPTypes
import Model

/// The conditions of a request (RFC 9110, section 13), evaluated against an item.
package struct Preconditions {
    package let fields: HTTPFields
    /// The item's ETag as it stands in the answer; nil if the item has none or does not exist.
    let etag: String?
    let exists: Bool

    package init(fields: HTTPFields, etag: String?, exists: Bool) {
        (self.fields, self.etag, self.exists) = (fields, etag, exists)
    }

    /// Returns the status that answers a reading request in place of the content: 412 or 304; nil if the conditions are
    /// met.
    package func reading() -> HTTPResponse.Status? {
        if let wanted = fields[.ifMatch], !matches(wanted, strongly: true) { return .preconditionFailed }
        if let known = fields[.ifNoneMatch], matches(known, strongly: false) { return .notModified }
        return nil
    }

    /// Whether a writing request may be executed.
    /// - Parameter modified: The item's modification time in seconds since 1970; nil if it does not exist.
    package func allowWriting(modified: Int64? = nil) -> Bool {
        if let wanted = fields[.ifMatch] {
            guard matches(wanted, strongly: true) else { return false }
        } else if let date = fields[.ifUnmodifiedSince].flatMap(Timestamp.init(httpDate:)), let modified {
            guard Timestamp(seconds: modified) <= date else { return false }
        }
        if let known = fields[.ifNoneMatch], matches(known, strongly: false) { return false }
        return true
    }

    /// Whether a range may be served. `If-Range` is compared strongly, and a date never matches.
    var allowRange: Bool {
        guard let wanted = fields[.ifRange] else { return true }
        return wanted == etag && !wanted.hasPrefix("W/")
    }

    /// Tells whether a list of ETags contains the item's ETag, or is `*` and the item exists.
    package func matches(_ list: String, strongly: Bool) -> Bool {
        if list.trimmed == "*" { return exists }
        guard let etag else { return false }
        return list.split(separator: ",").contains { entry in
            let entry = entry.trimmed
            if strongly { return entry == etag && !entry.hasPrefix("W/") }
            return Self.opaque(entry) == Self.opaque(etag)
        }
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        var rest = self[...]
        while rest.first == " " || rest.first == "\t" { rest = rest.dropFirst() }
        while rest.last == " " || rest.last == "\t" { rest = rest.dropLast() }
        return String(rest)
    }
}

/// The single range of a `Range` field (RFC 9110, section 14.2).
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    /// Reads a `Range` field. Several ranges, other units and malformed fields select the whole, as the RFC allows.
    init(_ field: String?, size: Int) {
        guard let field, field.hasPrefix("bytes="), !field.contains(",") else {
            self = .whole
            return
        }
        let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else {
            self = .whole
            return
        }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last) where last != nil || ends[1].isEmpty:
            let end = min(last ?? .max - 1, size - 1)
            if let last, last < first {
                self = .whole
            } else {
                self = first < size ? .part(first..<end + 1) : .unsatisfiable
            }
        case (nil, let suffix?) where ends[0].isEmpty:
            self = suffix > 0 && size > 0 ? .part(max(0, size - suffix)..<size) : .unsatisfiable
        default: self = .whole
        }
    }
}
