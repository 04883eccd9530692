/// What a condition comes to for one item as time goes on, while the item stays as it is.
struct ConditionCourse {
    /// A moment from which on the condition comes to the opposite.
    struct Turn {
        /// The first moment, in nanoseconds since 1970.
        var first: Int64
        /// The moment that the condition itself names: `first`, or just before it.
        var named: Int64
    }

    /// What it comes to at the beginning.
    var value: Bool
    /// After the beginning, each later than the one before.
    var turns: [Turn] = []

    init(_ condition: Condition, of item: Item, from now: Timestamp) {
        switch condition {
        case .constant, .property, .text: self.init(condition, item, now, meetings: [])
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

    /// Of a condition without terms, which may turn where the operands meet and at the moment after.
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

    /// Of a group, from those of its terms.
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
    /// A moment at which a condition comes to another answer by time alone.
    public struct Change: Hashable, Sendable {
        /// From this moment on the answer is another.
        public var first: Timestamp
        /// The moment as the condition names it: with `lastUsed < now - duration("1h")` an hour after the last use, of which
        /// `first` is the nanosecond after.
        public var named: Timestamp
        /// What the condition comes to from then on.
        public var value: Bool

        package init(first: Timestamp, named: Timestamp, value: Bool) {
            self.first = first
            self.named = named
            self.value = value
        }
    }

    /// When the condition first comes to another answer for the item after `now`, if nothing but time passes; nil: never.
    ///
    /// It solves comparisons of times and durations in which `now` stands, with properties, fixed times and sums of them, however
    /// they are nested. Sums beyond the range of 64 bits, 292 years from 1970, are taken for what they would be.
    public func nextChange(for item: Item, after now: Timestamp) -> Change? {
        let course = ConditionCourse(self, of: item, from: now)
        return course.turns.first.map {
            Change(
                first: Timestamp(nanoseconds: $0.first), named: Timestamp(nanoseconds: $0.named), value: !course.value)
        }
    }
}

extension Condition.Operand {
    /// The last moment, in nanoseconds since 1970, before an operand that goes with time leaves another behind; nil if none does.
    fileprivate func meeting(_ other: Condition.Operand, _ item: Item) -> Int64? {
        guard let a = line(item), let b = other.line(item), a.slope != b.slope else { return nil }
        // a.start + a.slope · t = b.start + b.slope · t; from 1970 on, the quotient is rounded down.
        return Int64(exactly: (b.start - a.start) / Int128(a.slope - b.slope))
    }

    /// The operand as `start + slope · now`, in nanoseconds; nil if it is absent or no time.
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
