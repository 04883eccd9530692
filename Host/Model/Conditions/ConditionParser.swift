extension Condition {
    /// Parses a condition.
    /// - Parameter text: A text of at most ``longestText`` bytes, nested at most ``deepestNesting`` levels.
    /// - Throws: ``ConditionError``, with the mistake and its position. Mistakes include an unknown property or
    ///   function, a comparison of values of unlike types, a text that the property can never have, and a property
    ///   that policies or claims decide, which only an ``ItemCondition`` knows.
    public init(parsing text: String) throws(ConditionError) { try self.init(parsing: text, inQuery: false) }

    /// Parses a condition.
    /// - Parameter inQuery: Whether the properties are known that policies or claims decide. They must be resolved
    ///   before the condition is evaluated.
    init(parsing text: String, inQuery: Bool) throws(ConditionError) {
        do throws(ConditionFault) {
            guard text.utf8.count <= Self.longestText else {
                throw ConditionFault(.tooLong, at: Self.longestText, "a condition has at most 1 MiB")
            }
            var parser = try ConditionParser(text, inQuery: inQuery)
            self = try parser.whole()
        } catch {
            throw ConditionError(error, in: text)
        }
    }
}

/// A parser of the language by recursive descent. Each method is a rule of the grammar.
struct ConditionParser {
    /// The result of a rule, and the offset at which the rule began to read.
    struct Part {
        enum Meaning {
            case condition(Condition)
            case operand(Condition.Operand)
        }
        var meaning: Meaning
        var offset: Int
    }

    private var lexer: ConditionLexer
    private(set) var token: ConditionToken
    private(set) var offset: Int
    private var depth = 0
    private let inQuery: Bool

    init(_ text: String, inQuery: Bool) throws(ConditionFault) {
        self.inQuery = inQuery
        lexer = ConditionLexer(text)
        (token, offset) = try lexer.next()
    }

    mutating func whole() throws(ConditionFault) -> Condition {
        let condition = try disjunction().asCondition()
        guard token == .end else { throw unexpected() }
        return condition
    }

    // MARK: Tokens

    mutating func advance() throws(ConditionFault) { (token, offset) = try lexer.next() }

    mutating func take(_ sign: ConditionToken.Sign) throws(ConditionFault) -> Bool {
        guard token == .sign(sign) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ sign: ConditionToken.Sign) throws(ConditionFault) {
        guard try take(sign) else { throw unexpected(insteadOf: "'\(sign.rawValue)'") }
    }

    func unexpected(insteadOf wanted: String? = nil) -> ConditionFault {
        let hint: String? =
            switch token {
            case .name("and"), .name("AND"): "write && for and"
            case .name("or"), .name("OR"): "write || for or"
            case .name("not"), .name("NOT"): "write ! for not"
            default: wanted.map { "\($0) is missing" }
            }
        return ConditionFault(.syntax, at: offset, "\(token.shown) is not expected here", hint: hint)
    }

    private mutating func enter(at offset: Int, levels: Int = 1) throws(ConditionFault) {
        depth += levels
        guard depth <= Condition.deepestNesting else {
            throw ConditionFault(.tooDeep, at: offset, "a condition is at most \(Condition.deepestNesting) levels deep")
        }
    }

    // MARK: Rules

    private mutating func disjunction() throws(ConditionFault) -> Part {
        let first = try conjunction()
        guard token == .sign(.or) else { return first }
        var terms = [try first.asCondition()]
        while try take(.or) { terms.append(try conjunction().asCondition()) }
        return Part(meaning: .condition(.anyOf(terms)), offset: first.offset)
    }

    private mutating func conjunction() throws(ConditionFault) -> Part {
        let first = try relation()
        guard token == .sign(.and) else { return first }
        var terms = [try first.asCondition()]
        while try take(.and) { terms.append(try relation().asCondition()) }
        return Part(meaning: .condition(.allOf(terms)), offset: first.offset)
    }

    private mutating func relation() throws(ConditionFault) -> Part {
        let left = try sum()
        let place = offset
        let condition: Condition
        if token == .name("in") {
            let value = try left.asOperand()
            try advance()
            if token == .name(Condition.Property.syncActivity.rawValue) {
                condition = .activity(try .checked(value, at: left.offset))
                try advance()
            } else {
                condition = .membership(try .checked(value, in: try list(), at: place, valueAt: left.offset))
            }
        } else if case .sign(let sign) = token, let relation = Condition.Relation(rawValue: sign.rawValue) {
            let value = try left.asOperand()
            try advance()
            let right = try sum()
            condition = .comparison(
                try .checked(
                    value, relation, try right.asOperand(), at: place, leftAt: left.offset, rightAt: right.offset))
        } else {
            return left
        }
        if case .sign(let sign) = token, Condition.Relation(rawValue: sign.rawValue) != nil {
            throw ConditionFault(
                .syntax, at: offset, "comparisons cannot be chained", hint: "join two comparisons with &&")
        }
        return Part(meaning: .condition(condition), offset: left.offset)
    }

    /// Reads a list and returns its elements, each with its offset.
    private mutating func list() throws(ConditionFault) -> [(Condition.Operand, Int)] {
        try expect(.openList)
        var elements: [(Condition.Operand, Int)] = []
        while token != .sign(.closeList) {
            let element = try sum()
            elements.append((try element.asOperand(), element.offset))
            guard try take(.comma) else { break }
        }
        try expect(.closeList)
        return elements
    }

    private mutating func sum() throws(ConditionFault) -> Part {
        var left = try unary()
        while token == .sign(.plus) || token == .sign(.minus) {
            let isSum = token == .sign(.plus)
            let place = offset
            let a = try left.asOperand()
            try advance()
            let b = try unary().asOperand()
            let result: Condition.Operand = isSum ? .sum(a, b) : .difference(a, b)
            guard result.valueType != nil else {
                throw ConditionFault(
                    .unlikeTypes, at: place,
                    "\(a.shownType) and \(b.shownType) cannot be \(isSum ? "added" : "subtracted")",
                    hint: "+ and - work between times and durations")
            }
            guard result.operations <= Condition.longestSum else {
                throw ConditionFault(.tooDeep, at: place, "at most \(Condition.longestSum) + and - make up a value")
            }
            left.meaning = .operand(result)
        }
        return left
    }

    private mutating func unary() throws(ConditionFault) -> Part {
        let start = offset
        var negations = 0
        while try take(.not) {
            negations += 1
            try enter(at: start)
        }
        guard negations > 0 else { return try member() }
        var condition = try member().asCondition()
        for _ in 0..<negations { condition = .not(condition) }
        depth -= negations
        return Part(meaning: .condition(condition), offset: start)
    }

    private mutating func member() throws(ConditionFault) -> Part {
        let receiver = try primary()
        guard try take(.dot) else { return receiver }
        let text = try receiver.asOperand()
        guard case .name(let name) = token else { throw unexpected(insteadOf: "the name of a test") }
        guard let place = Condition.TextPlace(rawValue: name) else {
            throw ConditionFault.unknown(
                .unknownFunction, "test", name, among: Condition.TextPlace.allCases.map(\.rawValue), at: offset)
        }
        try advance()
        try enter(at: offset)
        try expect(.open)
        let part = try sum()
        try expect(.close)
        depth -= 1
        let test = Condition.TextTest(text: text, place: place, part: try part.asOperand())
        try test.check(textAt: receiver.offset, partAt: part.offset)
        if token == .sign(.dot) { throw unexpected() }
        return Part(meaning: .condition(.text(test)), offset: receiver.offset)
    }

    private mutating func primary() throws(ConditionFault) -> Part {
        let start = offset
        let found = token
        switch found {
        case .sign(.open):
            try enter(at: start)
            try advance()
            var inner = try disjunction()
            try expect(.close)
            depth -= 1
            inner.offset = start
            return inner
        case .sign(.minus):
            try advance()
            guard case .number(let magnitude) = token else { throw unexpected(insteadOf: "a number") }
            try advance()
            return Part(meaning: .operand(.integer(Int64(truncatingIfNeeded: 0 &- magnitude))), offset: start)
        case .number(let number):
            guard let value = Int64(exactly: number) else {
                throw ConditionFault(.syntax, at: start, "the number does not fit into 64 bits")
            }
            try advance()
            return Part(meaning: .operand(.integer(value)), offset: start)
        case .text(let text):
            try advance()
            return Part(meaning: .operand(.text(text)), offset: start)
        case .name(let name):
            try advance()
            return Part(meaning: .operand(try named(name, at: start)), offset: start)
        default:
            throw unexpected(insteadOf: "a value")
        }
    }

    /// Reads a constant, a function call or a property. The name itself was already read.
    private mutating func named(_ name: String, at start: Int) throws(ConditionFault) -> Condition.Operand {
        if token == .sign(.open) {
            guard let function = ConditionFunction(rawValue: name) else {
                throw ConditionFault.unknown(
                    .unknownFunction, "function", name, among: ConditionFunction.allCases.map(\.rawValue), at: start)
            }
            try advance()
            guard case .text(let argument) = token else { throw unexpected(insteadOf: "a text in quotes") }
            let place = offset
            try advance()
            try expect(.close)
            return try function.value(of: argument.text, at: place)
        }
        switch name {
        case "null": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "now": return .now
        default:
            guard let property = Condition.Property(rawValue: name) else {
                throw ConditionFault.unknown(
                    .unknownProperty, "property", name, among: Condition.Property.allCases.map(\.rawValue), at: start)
            }
            guard inQuery || !property.isDecided else {
                throw ConditionFault(
                    .notInPolicy, at: start,
                    "a policy cannot depend on \(name), since policies decide what is kept here",
                    hint: "\(name) is known where items are listed: in queries and a processor's match and cleanup")
            }
            return .property(property)
        }
    }
}
