import Model

/// The schema of a plugin's settings, from its extension `larder.config-schema/1`.
struct ConfigSchema: Hashable, Sendable {
    struct Property: Hashable, Sendable {
        enum Kind: String, Hashable, Sendable { case boolean, integer, number, string, array, object }
        /// The notation of a string.
        enum Format: String, Hashable, Sendable {
            /// A duration such as `7d`, passed as an integer in milliseconds.
            case duration
            /// A size such as `20GB`, passed as an integer in bytes.
            case size
            /// A condition as a policy has it, passed as it is written.
            case condition
        }

        var name: String
        var kind: Kind
        var format: Format?
        var fallback: JSONValue?
        var allowed: [JSONValue]?
        /// A regular expression that matches the text somewhere.
        var pattern: String?
        /// What the setting is for, in the author's words.
        var description: String?
        var minimum: Double?
        var maximum: Double?
        /// The way in which the host follows the setting too; nil if it does not.
        var heededAs: HeededSettings.Kind?
        /// The settings in a setting that is an object, or in each object of a list of objects.
        var members: [Property] = []
        /// The names of the members that cannot be left out.
        var required: [String] = []
        /// Whether the setting is a list of objects.
        var isListOfObjects = false
    }

    var properties: [Property]
    /// The names of the properties that cannot be left out.
    var required: [String] = []
    /// The schema as the plugin gave it.
    var source = JSONValue.object([])

    static var none: ConfigSchema { ConfigSchema(properties: []) }

    init(properties: [Property], required: [String] = []) { (self.properties, self.required) = (properties, required) }

    /// Reads a schema.
    /// - Throws: `.badText` if the schema is not valid. A keyword that the host does not know is an error too, because
    ///   it would promise a check that is not made.
    init(parsing text: String) throws(Refusal) {
        let schema: JSONValue
        do throws(JSONValue.ParsingError) { schema = try JSONValue(parsing: text) } catch {
            throw .badText("its settings' schema is not JSON: \(error.message), at byte \(error.offset)")
        }
        guard case .object(let members) = schema, case .object(let listed)? = schema["properties"] else {
            throw .badText("its settings' schema has no `properties`")
        }
        for member in members where !["properties", "type", "description", "title"].contains(member.name) {
            throw .badText("its settings' schema has the unknown keyword `\(member.name)`")
        }
        source = schema
        properties = try listed.map { member throws(Refusal) in try Property(name: member.name, schema: member.value) }
    }

    /// Checks the settings and fills in defaults.
    /// - Parameters:
    ///   - json: The settings in the config, a JSON object.
    ///   - overrides: What is different for accounts, by the accounts' names. It is only checked.
    /// - Returns: The settings as the plugin gets them, an object.
    /// - Throws: `.settings` with all problems.
    func settings(from json: String, overrides: [String: PluginOverride] = [:]) throws(Refusal) -> JSONValue {
        let given = try Self.object(in: json)
        var (filled, problems) = fill(.object(given), given)
        for (account, override) in overrides.sorted(by: { $0.key < $1.key }) {
            let given = try Self.object(in: override.json, account: account)
            problems += fill(.object(given), given).problems.map { SettingProblem($0.keys, $0.kind, account: account) }
        }
        guard problems.isEmpty else { throw .settings(problems) }
        return filled
    }

    /// Returns the defaults of the settings that are left out, as an object with values in the notation of the schema.
    /// - Parameter json: The settings in the config, without problems.
    func defaults(beside json: String) throws(Refusal) -> JSONValue {
        .object(defaults(beside: .object(try Self.object(in: json))))
    }

    private static func object(in json: String, account: String? = nil) throws(Refusal) -> [JSONValue.Member] {
        do throws(JSONValue.ParsingError) {
            if case .object(let members) = try JSONValue(parsing: json) { return members }
        } catch {
            throw .settings([SettingProblem([], .wrong("not JSON: \(error.message)"), account: account)])
        }
        throw .settings([SettingProblem([], .wrong("not an object"), account: account)])
    }

    private func defaults(beside given: JSONValue) -> [JSONValue.Member] {
        properties.compactMap { property in
            let known = given[property.name]
            guard let value = known ?? property.fallback else { return nil }
            guard case .object(let members) = value else {
                return known == nil ? .init(name: property.name, value: value) : nil
            }
            let more = ConfigSchema(properties: property.members).defaults(beside: value)
            if known != nil && more.isEmpty { return nil }
            return .init(name: property.name, value: .object((known == nil ? members : []) + more))
        }
    }

    /// Fills in an object's defaults and finds all problems with the object.
    /// - Parameters:
    ///   - given: The object.
    ///   - members: The members of the object.
    ///   - keys: The position of the object in the settings.
    fileprivate func fill(
        _ given: JSONValue, _ members: [JSONValue.Member], at keys: [String] = []
    ) -> (JSONValue, problems: [SettingProblem]) {
        var problems = members.filter { member in !properties.contains { $0.name == member.name } }
            .map { SettingProblem(keys + [$0.name], .unknown(among: properties.map(\.name))) }
        var filled: [JSONValue.Member] = []
        for property in properties {
            if let value = given[property.name] {
                problems += property.problems(with: value, at: keys + [property.name])
                filled.append(.init(name: property.name, value: property.value(of: value)))
            } else if let fallback = property.fallback {
                filled.append(.init(name: property.name, value: property.value(of: fallback)))
            } else if required.contains(property.name) {
                problems.append(SettingProblem(keys + [property.name], .wrong("is missing")))
            }
        }
        return (.object(filled), problems)
    }
}

extension ConfigSchema.Property {
    /// Reads the schema of one setting.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - schema: The schema of the setting.
    ///   - isNested: Whether the setting is inside a setting that is an object.
    init(name: String, schema: JSONValue, isNested: Bool = false) throws(Refusal) {
        guard case .object(let members) = schema else {
            throw .badText("the schema of the setting `\(name)` is not an object")
        }
        guard case .string(let type)? = schema["type"], let kind = Kind(rawValue: type) else {
            throw .badText("the setting `\(name)` has no known type")
        }
        self.init(name: name, kind: kind, fallback: nil, allowed: nil, minimum: nil, maximum: nil)
        for member in members {
            switch (member.name, member.value) {
            case ("type", _), ("title", .string): break
            case ("description", .string(let text)): description = text
            case ("pattern", .string(let text)) where kind == .string:
                do { _ = try Regex(text) } catch {
                    throw .badText("the pattern of the setting `\(name)` is not a regular expression")
                }
                pattern = text
            case ("format", .string(let word)) where kind == .string:
                guard let known = Format(rawValue: word) else {
                    throw .badText("the setting `\(name)` has the unknown format `\(word)`")
                }
                format = known
            case ("items", let items) where kind == .array:
                if items != .object([.init(name: "type", value: .string("string"))]) { try takeObjects(items) }
            case ("properties", .object(let members)) where kind == .object: try takeMembers(members)
            case ("required", .array(let names)) where kind == .object: required = names.compactMap(\.string)
            case ("default", _): fallback = member.value
            case ("enum", .array(let values)): allowed = values
            case ("heeded-as", .string(let word)):
                heededAs = HeededSettings.Kind(rawValue: word)
            case ("minimum", let value): minimum = try Self.bound(value, name)
            case ("maximum", let value): maximum = try Self.bound(value, name)
            default: throw .badText("the setting `\(name)` has the unknown keyword `\(member.name)`")
            }
        }
        if kind == .object, schema["properties"] == nil {
            throw .badText("the setting `\(name)` has no `properties`")
        }
        if schema["heeded-as"] != nil, isNested || heededAs?.suits(self) != true {
            throw .badText("the setting `\(name)` has a `heeded-as` that is not for it")
        }
        if let name = required.first(where: { name in !self.members.contains { $0.name == name } }) {
            throw .badText("the setting `\(self.name)` requires `\(name)`, which is none of its properties")
        }
        if kind == .array, schema["items"] == nil { throw .badText("the setting `\(name)` has no `items`") }
        if let fallback, let problem = problems(with: fallback, at: [name]).first {
            throw .badText("the default of the setting \(problem.text)")
        }
    }

    private mutating func takeMembers(_ members: [JSONValue.Member]) throws(Refusal) {
        self.members = try members.map { member throws(Refusal) in
            try Self(name: member.name, schema: member.value, isNested: true)
        }
    }

    /// Takes the schema of the objects of a list.
    private mutating func takeObjects(_ schema: JSONValue) throws(Refusal) {
        guard schema["type"]?.string == "object" else {
            throw .badText("the items of the setting `\(name)` are neither strings nor objects")
        }
        let object = try Self(name: name, schema: schema, isNested: true)
        (members, required, isListOfObjects) = (object.members, object.required, true)
    }

    private static func bound(_ value: JSONValue, _ name: String) throws(Refusal) -> Double {
        switch value {
        case .integer(let bound): Double(bound)
        case .number(let bound): bound
        default: throw .badText("a bound of the setting `\(name)` is not a number")
        }
    }

    /// Returns the problems with a value and with the settings in it.
    /// - Parameters:
    ///   - value: The value.
    ///   - keys: The position of the value in the settings, its own name included.
    func problems(with value: JSONValue, at keys: [String]) -> [SettingProblem] {
        if kind == .object, case .object(let members) = value {
            return ConfigSchema(properties: self.members, required: required).fill(value, members, at: keys).problems
        }
        if isListOfObjects, case .array(let values) = value {
            return values.enumerated().flatMap { problems(with: $1, at: keys + ["[\($0 + 1)]"], named: $1["name"]) }
        }
        return problem(with: value).map { [SettingProblem(keys, .wrong($0))] } ?? []
    }

    /// Returns the problems with an object of a list. What has a name is named, so that nobody has to count.
    private func problems(with value: JSONValue, at keys: [String], named name: JSONValue?) -> [SettingProblem] {
        guard case .object(let members) = value else { return [SettingProblem(keys, .wrong("must hold settings"))] }
        let problems = ConfigSchema(properties: self.members, required: required).fill(value, members, at: keys)
            .problems
        guard let name, name.string != nil else { return problems }
        return problems.map { problem in
            guard case .wrong(let message) = problem.kind else { return problem }
            return SettingProblem(problem.keys, .wrong("of \(name.text) \(message)"), account: problem.account)
        }
    }

    /// Returns the problem with a value that holds no settings; nil if there is none.
    private func problem(with value: JSONValue) -> String? {
        let size: Double?
        switch (kind, value) {
        case (.string, .string(let text)) where pattern != nil && !matches(text):
            return description.map { "is not as it has to be: \($0)" } ?? "must match \(pattern ?? "")"
        case (.string, .string(let text)) where format == .condition:
            do throws(ConditionError) { _ = try Condition(parsing: text) } catch {
                return "is not a condition: \(error)"
            }
            size = nil
        case (.string, _) where format == .duration || format == .size:
            guard case .string(let text) = value, let number = number(in: text) else {
                return format == .size
                    ? "is not a size: write it like 700MB, 20GB or 16GiB"
                    : "is not a duration: write it like 500ms, 90s, 10m, 24h or 7d"
            }
            size = Double(number)
        case (.boolean, .bool), (.string, .string): size = nil
        case (.array, .array(let values)):
            let areTexts = values.allSatisfy { if case .string = $0 { true } else { false } }
            return areTexts ? nil : "must be a list of texts"
        case (.integer, .integer(let number)), (.number, .integer(let number)): size = Double(number)
        case (.number, .number(let number)): size = number
        default:
            return kind == .array
                ? "must be a list" : kind == .object ? "must hold settings" : "must be of type \(kind.rawValue)"
        }
        if let allowed, !allowed.contains(value) {
            return "must be one of \(allowed.map(\.text).joined(separator: ", "))"
        }
        let unit = format.map { $0 == .size ? "B" : "ms" } ?? ""
        if let size, let minimum, size < minimum { return "must be at least \(JSONValue.plain(minimum))\(unit)" }
        if let size, let maximum, size > maximum { return "must be at most \(JSONValue.plain(maximum))\(unit)" }
        return nil
    }
}

extension ConfigSchema.Property {
    /// Returns the value that the plugin gets for a value without problems.
    fileprivate func value(of given: JSONValue) -> JSONValue {
        if case .object(let given) = given {
            return ConfigSchema(properties: members).fill(.object(given), given).0
        }
        if isListOfObjects, case .array(let values) = given { return .array(values.map(value)) }
        guard case .string(let text) = given, let number = number(in: text) else { return given }
        return .integer(number)
    }

    fileprivate func matches(_ text: String) -> Bool {
        guard let pattern else { return true }
        // The pattern was tried when the schema was read.
        do { return try Regex(pattern).firstMatch(in: text) != nil } catch { return false }
    }

    private func number(in text: String) -> Int64? {
        switch format {
        case .duration: WrittenQuantity.milliseconds(text)
        case .size: WrittenQuantity.bytes(text)
        case .condition, nil: nil
        }
    }
}

extension JSONValue {
    /// The text; nil if the value is not a text.
    fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }

    fileprivate static func plain(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? String(number)
    }
}
