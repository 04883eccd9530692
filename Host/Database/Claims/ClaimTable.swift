public import Model

/// The claims that keep copies of items here (`larder claim`).
public struct ClaimTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns an item's claims, valid or not.
    /// - Throws: `.internal` if a stored claim makes no sense.
    public func of(_ item: LocalID) throws -> [Claim] {
        try select(where: "localID = ? ORDER BY id", [.text(item.text)])
    }

    /// Returns all claims, valid or not, by their ids.
    /// - Throws: The errors of ``of(_:)``.
    public func all() throws -> [Claim] { try select(where: "1 ORDER BY id") }

    /// Returns a claim; nil if there is none with this id.
    /// - Throws: The errors of ``of(_:)``.
    public func claim(_ id: ClaimID) throws -> Claim? { try select(where: "id = ?", [.text(id.text)]).first }

    /// Returns the valid claims of an item, which keep its copy here.
    /// - Parameter world: The state by which claims are valid. It is evaluated only if the item has claims.
    /// - Throws: The errors of ``of(_:)``.
    public func valid(of item: LocalID, in world: @autoclosure () -> ClaimWorld) throws -> [Claim] {
        let claims = try of(item)
        guard !claims.isEmpty else { return [] }
        let world = world()
        return claims.filter { $0.isValid(in: world) }
    }

    /// Returns the kinds of valid claims for each item. Items without valid claims are left out.
    /// - Parameter world: The state by which claims are valid. It is evaluated only if there are claims.
    /// - Throws: The errors of ``of(_:)``.
    public func kinds(in world: @autoclosure () -> ClaimWorld) throws -> [LocalID: ClaimKinds] {
        let claims = try all()
        guard !claims.isEmpty else { return [:] }
        let world = world()
        var kinds: [LocalID: ClaimKinds] = [:]
        for claim in claims where claim.isValid(in: world) { kinds[claim.item, default: []].insert(.init(claim.kind)) }
        return kinds
    }

    private func select(where sql: String, _ arguments: [SQLValue] = []) throws -> [Claim] {
        let statement = try RawStatement(db, "SELECT id, localID, kind, validity FROM claims WHERE \(sql)")
        defer { statement.reset() }
        statement.bind(arguments)
        var claims: [Claim] = []
        while try statement.step() {
            guard let kind = statement.integer(2).flatMap({ Claim.Kind(rawValue: Int($0)) }),
                let validity = try ClaimValidity.read(statement.text(3) ?? "", in: db)
            else { throw Failure(.internal, "The claim \(statement.text(0) ?? "") makes no sense") }
            claims.append(
                Claim(
                    id: ClaimID(statement.text(0) ?? ""), item: LocalID(statement.text(1) ?? ""), kind: kind,
                    validity: validity))
        }
        return claims
    }
}

extension DatabaseReads {
    /// The claims that keep copies of items here (`larder claim`).
    public var claims: ClaimTable<Self> { ClaimTable(access: self) }
}
