import GRDB
public import Model

extension DatabaseReads {
    /// An item's claims, valid or not.
    public func claims(of item: LocalID) throws -> [Claim] {
        try claims(where: "localID = ? ORDER BY id", [.text(item.text)])
    }

    /// All claims, valid or not, by their ids.
    public func claims() throws -> [Claim] { try claims(where: "1 ORDER BY id") }

    public func claim(_ id: ClaimID) throws -> Claim? { try claims(where: "id = ?", [.text(id.text)]).first }

    /// The claims of an item that keep its copy here.
    /// - Parameter world: Asked only if the item has claims at all.
    public func validClaims(of item: LocalID, in world: @autoclosure () -> ClaimWorld) throws -> [Claim] {
        let claims = try claims(of: item)
        guard !claims.isEmpty else { return [] }
        let world = world()
        return claims.filter { $0.isValid(in: world) }
    }

    /// Which kinds of valid claims items have; those without any are left out.
    public func claimedItems(in world: @autoclosure () -> ClaimWorld) throws -> [LocalID: ClaimKinds] {
        let claims = try claims()
        guard !claims.isEmpty else { return [:] }
        let world = world()
        var kinds: [LocalID: ClaimKinds] = [:]
        for claim in claims where claim.isValid(in: world) { kinds[claim.item, default: []].insert(.init(claim.kind)) }
        return kinds
    }

    private func claims(where sql: String, _ arguments: [SQLValue] = []) throws -> [Claim] {
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

extension Transaction {
    /// Stores a claim. One with the same id of the same item is renewed.
    /// - Throws: `.badData` if another item has a claim with this id.
    public func addClaim(_ claim: Claim) throws {
        if let earlier = try self.claim(claim.id), earlier.item != claim.item {
            throw Failure(
                .badData, "There is a claim \(claim.id) already, of another item",
                hint: "Choose another id, or `larder claim remove \(claim.id)` first")
        }
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO claims (id, localID, kind, validity) VALUES (?, ?, ?, ?)")
        statement.bind([
            .text(claim.id.text), .text(claim.item.text), .integer(Int64(claim.kind.rawValue)),
            .text(claim.validity.json),
        ])
        try statement.run()
    }

    /// - Throws: `.notFound` if there is no such claim.
    public func removeClaim(_ id: ClaimID) throws {
        guard try deleteClaim(id) else {
            throw Failure(.notFound, "There is no claim \(id)", hint: "See `larder claim list`")
        }
    }

    /// Takes away the claims that never can be valid again, and those of items that are gone.
    /// - Returns: how many.
    @discardableResult
    public func sweepClaims(in world: ClaimWorld) throws -> Int {
        var count = 0
        for claim in try claims() where try claim.isOver(in: world) || item(localID: claim.item) == nil {
            if try deleteClaim(claim.id) { count += 1 }
        }
        return count
    }

    private func deleteClaim(_ id: ClaimID) throws -> Bool {
        let statement = try RawStatement(db, "DELETE FROM claims WHERE id = ?")
        statement.bind(1, id.text)
        try statement.run()
        return db.changesCount > 0
    }
}
