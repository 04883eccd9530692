/// The course of a condition's result for one item as time passes, while the item stays the same.
struct ConditionCourse {
    /// A moment from which on the condition has the opposite result.
    struct Turn {
        /// The first moment, in nanoseconds since 1970.
        var first: Int64
        /// The moment that the condition itself names: `first`, or the nanosecond before it.
        var named: Int64
    }

    /// The result at the beginning.
    var value: Bool
    /// The turns after the beginning, in the order of time.
    var turns: [Turn] = []

    init(_ condition: Condition, of item: Item, from now: Timestamp) {
        switch condition {
        case .constant, .property, .text, .activity: self.init(condition, item, now, meetings: [])
        case .resolved(_, let meaning): self.init(meaning, of: item, from: now)
        case .comparison(let comparison):
            self.init(condition, item, now, meetings: [comparison.left.meeting(comparison.right, item)])
        case .membership(let membership):
            self.init(condition, item, now, meetings: membership.list.map { membership.value.meeting($0, item) })
        case .not(let term):
            self.init([ConditionCourse(term, of: item, from: now)]) { holding, _ in holding == 0 }
        case .any(let terms):
            self.init(terms.map { ConditionCourse($0, of: item, from: now) }) { holding, _ in holding > 0 }
        case .all(let terms):
            self.init(terms.map { ConditionCourse($0, of: item, from: now) }) { holding, all in holding == all }
        }
    }

    /// Creates the course of a condition without terms. Such a condition may turn at the moments where its operands
    /// meet, and at the next moments.
    private init(_ condition: Condition, _ item: Item, _ now: Timestamp, meetings: [Int64?]) {
        value = condition.matches(item, now: now)
        var named: [Int64: Int64] = [:]
        for meeting in meetings.compactMap(\.self) where meeting < Int64.max {
            named[meeting] = meeting
            if named[meeting + 1] == nil { named[meeting + 1] = meeting }
        }
        var last = value
        for moment in named.keys.sorted() where moment > now.nanoseconds {
            guard condition.matches(item, now: Timestamp(nanoseconds: moment)) != last else { continue }
            last.toggle()
            turns.append(Turn(first: moment, named: named[moment] ?? moment))
        }
    }

    /// Creates the course of a group from the courses of its terms.
    private init(_ terms: [ConditionCourse], _ holds: (_ holding: Int, _ all: Int) -> Bool) {
        var values = terms.map(\.value)
        var holding = values.count { $0 }
        value = holds(holding, terms.count)
        var last = value
        let all = terms.enumerated().flatMap { index, term in term.turns.map { (turn: $0, term: index) } }
            .sorted { $0.turn.first < $1.turn.first }
        for (position, next) in all.enumerated() {
            values[next.term].toggle()
            holding += values[next.term] ? 1 : -1
            let isLastOfMoment = position + 1 == all.count || all[position + 1].turn.first != next.turn.first
            guard isLastOfMoment, holds(holding, terms.count) != last else { continue }
            last.toggle()
            turns.append(next.turn)
        }
    }
}

extension Condition {
    /// A moment at which a condition's result changes by the passing of time alone.
    public struct Change: Hashable, Sendable {
        /// The first moment of the new result.
        public var first: Timestamp
        /// The moment as the condition names it. For `lastUsed < now - duration("1h")` this is an hour after the last
        /// use, and `first` is the nanosecond after.
        public var named: Timestamp
        /// The new result.
        public var value: Bool

        package init(first: Timestamp, named: Timestamp, value: Bool) {
            self.first = first
            self.named = named
            self.value = value
        }
    }

    /// Whether the condition names `now`, so that its result may change by the passing of time alone.
    public var dependsOnTime: Bool {
        switch self {
        case .constant, .property, .activity: false
        case .resolved(_, let meaning): meaning.dependsOnTime
        case .comparison(let comparison): comparison.left.dependsOnTime || comparison.right.dependsOnTime
        case .membership(let membership):
            membership.value.dependsOnTime || membership.list.contains(where: \.dependsOnTime)
        case .text(let test): test.text.dependsOnTime || test.part.dependsOnTime
        case .not(let term): term.dependsOnTime
        case .any(let terms), .all(let terms): terms.contains(where: \.dependsOnTime)
        }
    }

    /// Returns the first change of the condition's result for an item after `now`, if nothing but time passes. Returns
    /// nil if the result never changes.
    ///
    /// The function solves comparisons of times and durations that contain `now`, with properties, fixed times and sums
    /// of them, however they are nested. Sums beyond the range of 64 bits, 292 years from 1970, are taken for the
    /// values that they would have.
    public func nextChange(for item: Item, after now: Timestamp) -> Change? {
        let course = ConditionCourse(self, of: item, from: now)
        return course.turns.first.map {
            Change(
                first: Timestamp(nanoseconds: $0.first), named: Timestamp(nanoseconds: $0.named), value: !course.value)
        }
    }
}

extension Condition.Operand {
    fileprivate var dependsOnTime: Bool {
        switch self {
        case .now: true
        case .sum(let a, let b), .difference(let a, let b): a.dependsOnTime || b.dependsOnTime
        case .null, .text, .integer, .boolean, .time, .duration, .property: false
        }
    }

    /// Returns the last moment, in nanoseconds since 1970, before the operand that advances faster with time exceeds
    /// the other. Returns nil if neither does.
    fileprivate func meeting(_ other: Condition.Operand, _ item: Item) -> Int64? {
        guard let a = line(item), let b = other.line(item), a.slope != b.slope else { return nil }
        // The equation is a.start + a.slope · t = b.start + b.slope · t. From 1970 on, the quotient is rounded down.
        return Int64(exactly: (b.start - a.start) / Int128(a.slope - b.slope))
    }

    /// Returns the operand as `start + slope · now`, in nanoseconds, or nil if the operand is absent or neither a time
    /// nor a duration.
    private func line(_ item: Item) -> (start: Int128, slope: Int)? {
        switch self {
        case .now: return (0, 1)
        case .time, .duration, .property:
            guard valueType == .time || valueType == .duration,
                case .number(let number) = value(of: item, now: Timestamp(nanoseconds: 0))
            else { return nil }
            return (Int128(number), 0)
        case .sum(let a, let b):
            guard let a = a.line(item), let b = b.line(item) else { return nil }
            return (a.start + b.start, a.slope + b.slope)
        case .difference(let a, let b):
            guard let a = a.line(item), let b = b.line(item) else { return nil }
            return (a.start - b.start, a.slope - b.slope)
        case .null, .text, .integer, .boolean: return nil
        }
    }
}
