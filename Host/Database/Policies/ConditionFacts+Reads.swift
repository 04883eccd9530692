public import Model

extension ConditionFacts {
    /// Reads the policies and claims.
    /// - Parameter world: The state by which claims are valid. Its time is that for which `now` in a condition stands.
    /// - Throws: `.badData` if a policy's condition does not parse, or `.internal` if a stored claim makes no sense.
    public init(_ reads: some DatabaseReads, world: ClaimWorld) throws {
        self.init(
            policies: try reads.policies.all(kind: .availableOffline).map { ($0, try $0.parsedCondition()) },
            claims: try reads.claims.all(), world: world)
    }
}
