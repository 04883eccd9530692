public import Model

/// The writes that concern claims.
extension ClaimTable where Access == Transaction {
    /// Stores a claim. A claim of the same item with the same id is replaced.
    /// - Throws: `.badData` if another item has a claim with this id, or the claim's groups are nested too deeply.
    public func add(_ claim: Claim) throws {
        guard claim.validity.isReadable else {
            throw Failure(
                .badData, "The claim \(claim.id) is not stored: its conditions are nested too deeply",
                hint: "Use fewer groups of conditions")
        }
        if let earlier = try self.claim(claim.id), earlier.item != claim.item {
            throw Failure(
                .badData, "There is already a claim \(claim.id), of another item",
                hint: .removeClaim(claim.id))
        }
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO claims (id, localID, kind, validity) VALUES (?, ?, ?, ?)")
        statement.bind([
            .text(claim.id.text), .text(claim.item.text), .integer(Int64(claim.kind.rawValue)),
            .text(claim.validity.json),
        ])
        try statement.run()
        access.noteClaimsChanged()
    }

    /// Removes a claim.
    /// - Throws: `.notFound` if there is no such claim.
    public func remove(_ id: ClaimID) throws {
        guard try deleteClaim(id) else {
            throw Failure(.notFound, "There is no claim \(id)", hint: .seeClaims)
        }
    }

    /// Removes the claims that can never be valid again, and those of items that no longer exist.
    /// - Returns: The number of removed claims.
    /// - Throws: The errors of ``of(_:)``.
    @discardableResult
    public func sweep(in world: ClaimWorld) throws -> Int {
        var count = 0
        for claim in try all() where try claim.isOver(in: world) || access.items.item(localID: claim.item) == nil {
            if try deleteClaim(claim.id) { count += 1 }
        }
        return count
    }

    private func deleteClaim(_ id: ClaimID) throws -> Bool {
        let statement = try RawStatement(db, "DELETE FROM claims WHERE id = ?")
        statement.bind(1, id.text)
        try statement.run()
        guard changedRows > 0 else { return false }
        access.noteClaimsChanged()
        return true
    }
}
