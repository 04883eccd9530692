extension Condition {
    /// Tells whether an item meets the condition.
    /// - Parameter now: The moment that `now` stands for.
    public func matches(_ item: Item, now: Timestamp) -> Bool { matches(Optional(item), now: now) }

    /// Tells whether an item meets the condition.
    /// - Parameter item: The item, or nil if the condition does not depend on an item.
    package func matches(_ item: Item?, now: Timestamp) -> Bool {
        switch self {
        case .constant(let value): value
        case .property(let property): Operand.property(property).value(of: item, now: now).isTrue
        case .comparison(let comparison):
            comparison.relation.holds(
                between: comparison.left.value(of: item, now: now), comparison.right.value(of: item, now: now))
        case .membership(let membership):
            membership.holds(for: membership.value.value(of: item, now: now), now: now)
        case .text(let test):
            test.place.holds(of: test.part.value(of: item, now: now), in: test.text.value(of: item, now: now))
        case .activity(let activity): item?.syncActivity.contains(activity) ?? false
        case .resolved(_, let meaning): meaning.matches(item, now: now)
        case .any(let terms): terms.contains { $0.matches(item, now: now) }
        case .all(let terms): terms.allSatisfy { $0.matches(item, now: now) }
        case .not(let term): !term.matches(item, now: now)
        }
    }

    /// The value of an operand. Times and durations are numbers of nanoseconds.
    package enum Value {
        case absent
        case text(String)
        case number(Int64)
        case boolean(Bool)

        init(_ text: String?) { self = text.map(Value.text) ?? .absent }
        init(_ number: Int64?) { self = number.map(Value.number) ?? .absent }

        var isTrue: Bool { if case .boolean(true) = self { true } else { false } }

        func isSame(as other: Value) -> Bool {
            switch (self, other) {
            case (.absent, .absent): true
            case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
            case (.number(let a), .number(let b)): a == b
            case (.boolean(let a), .boolean(let b)): a == b
            default: false
            }
        }

        /// Tells whether this value is less than the other. Returns false if either is absent.
        func isLess(than other: Value) -> Bool {
            switch (self, other) {
            case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
            case (.number(let a), .number(let b)): a < b
            default: false
            }
        }

        /// Whether the value is absent.
        package var isAbsent: Bool { if case .absent = self { true } else { false } }
    }
}

extension Condition.Property {
    func value(of item: Item) -> Condition.Value {
        switch self {
        case .path: .text(item.path.text)
        case .name: .text(item.path.name)
        case .type: .text(item.kind == .file ? "file" : "folder")
        case .size: .init(item.size)
        case .mimeType: .init(item.mimeType)
        case .etag: .init(item.etag?.opaque)
        case .fileID: .init(item.fileID?.text)
        case .localID: .text(item.localID.text)
        case .lastModified: .init(item.lastModified?.nanoseconds)
        case .lastUsed: .init(item.lastUsed?.nanoseconds)
        case .cloudStatus: .text(item.cloudStatus.name)
        case .downloadTrigger: .init(item.downloadTrigger?.text)
        case .removed: .boolean(item.isRemoved)
        case .favorite: .boolean(item.isFavorite)
        case .remoteVersion: .init(item.remoteVersion?.name)
        case .removedAt: .init(item.removedAt?.nanoseconds)
        case .parentPath: .init(item.path.isRoot ? nil : item.path.parent.text)
        case .owner: .init(item.owner)
        case .availableOffline, .claimed, .syncActivity:
            preconditionFailure("The property \(rawValue) was not resolved.")
        }
    }
}

extension Condition.Operand {
    /// Returns the operand's value.
    /// - Parameter item: The item, or nil if the operand does not depend on an item.
    package func value(of item: Item?, now: Timestamp) -> Condition.Value {
        switch self {
        case .null: .absent
        case .text(let text): .text(text.text)
        case .integer(let number): .number(number)
        case .boolean(let value): .boolean(value)
        case .time(let time): .number(time.nanoseconds)
        case .duration(let milliseconds): .number(milliseconds.multipliedReportingOverflow(by: 1_000_000).partialValue)
        case .now: .number(now.nanoseconds)
        case .property(let property): item.map(property.value) ?? .absent
        case .sum(let a, let b): Self.sum(a.value(of: item, now: now), b.value(of: item, now: now))
        case .difference(let a, let b): Self.difference(a.value(of: item, now: now), b.value(of: item, now: now))
        }
    }

    /// Returns the sum of two numbers. A sum beyond the range of 64 bits becomes the end of the range.
    private static func sum(_ a: Condition.Value, _ b: Condition.Value) -> Condition.Value {
        guard case .number(let a) = a, case .number(let b) = b else { return .absent }
        let (sum, overflow) = a.addingReportingOverflow(b)
        return .number(overflow ? (a < 0 ? .min : .max) : sum)
    }

    private static func difference(_ a: Condition.Value, _ b: Condition.Value) -> Condition.Value {
        guard case .number(let a) = a, case .number(let b) = b else { return .absent }
        let (difference, overflow) = a.subtractingReportingOverflow(b)
        return .number(overflow ? (a < 0 ? .min : .max) : difference)
    }
}

extension Condition.Relation {
    func holds(between a: Condition.Value, _ b: Condition.Value) -> Bool {
        switch self {
        case .equal: a.isSame(as: b)
        case .unequal: !a.isSame(as: b)
        case .less: a.isLess(than: b)
        case .greater: b.isLess(than: a)
        case .lessOrEqual: !a.isAbsent && !b.isAbsent && !b.isLess(than: a)
        case .greaterOrEqual: !a.isAbsent && !b.isAbsent && !a.isLess(than: b)
        }
    }
}

extension Condition.Membership {
    func holds(for value: Condition.Value, now: Timestamp) -> Bool {
        list.contains { $0.value(of: nil, now: now).isSame(as: value) }
    }
}

extension Condition.TextPlace {
    func holds(of part: Condition.Value, in text: Condition.Value) -> Bool {
        guard case .text(let part) = part, case .text(let text) = text else { return false }
        return switch self {
        case .start: text.utf8.starts(with: part.utf8)
        case .end: text.utf8.suffix(part.utf8.count).elementsEqual(part.utf8)
        case .anywhere: text.utf8.contains(part.utf8)
        }
    }
}
