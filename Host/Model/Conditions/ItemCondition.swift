/// A condition that selects items, in a query or for a processor. Beside what every ``Condition`` may name, it may name
/// the properties that policies and claims decide: `availableOffline` and `claimed`.
///
/// The row of an item does not tell these properties. The condition is therefore resolved before it is evaluated.
///
/// ```swift
/// let query = try ItemCondition(parsing: "type == 'file' && availableOffline == 'none' && !claimed")
/// let condition = try query.resolved { try ConditionFacts(reads, world: world) }
/// ```
public struct ItemCondition: Hashable, Sendable {
    private let condition: Condition
    private let needsFacts: Bool

    /// Parses a condition.
    /// - Throws: ``ConditionError``, as ``Condition/init(parsing:)``.
    public init(parsing text: String) throws(ConditionError) {
        condition = try Condition(parsing: text, inQuery: true)
        needsFacts = Condition.Property.allCases.contains { [condition] in $0.isDecided && condition.names($0) }
    }

    /// Creates a condition that names no property which policies or claims decide.
    public init(_ condition: Condition) { (self.condition, needsFacts) = (condition, false) }

    /// The condition in its language. Parsing the text gives the same condition.
    public var text: String { condition.text }

    /// The condition itself if it names no property that policies or claims decide, otherwise nil.
    public var plain: Condition? { needsFacts ? nil : condition }

    /// Tells whether the condition names a property.
    public func names(_ property: Condition.Property) -> Bool { condition.names(property) }

    /// Returns the condition that an item's row alone answers. It has the same text.
    /// - Parameter facts: Returns the policies and claims. Called only if the condition depends on them.
    /// - Throws: What `facts` throws.
    public func resolved<Problem>(by facts: () throws(Problem) -> ConditionFacts) throws(Problem) -> Condition {
        needsFacts ? condition.resolved(by: try facts()) : condition
    }
}
