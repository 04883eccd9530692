import Database
import LocalTree
public import Model

/// Commands by which other programs claim the copies that they use.
public enum Claims {
    /// Claims the copy of a file, or renews the file's claim with the same id.
    /// - Throws: `.notFound` if no item is known at the path, `.badData` if the item is a folder, if another item has a
    ///   claim with this id, or if the claim would be over already.
    public struct Add: AccountCommand {
        public static let name = "claim-add"

        /// The path of the file.
        public var path: ItemPath
        /// The kind of the claim.
        public var kind: Claim.Kind
        /// The time, or the process, that limits the claim.
        public var validity: ClaimValidity
        /// The id of the claim; nil creates a new id.
        public var id: ClaimID?

        /// Creates the command.
        public init(_ path: ItemPath, as kind: Claim.Kind, _ validity: ClaimValidity, id: ClaimID?) {
            (self.path, self.kind, self.validity, self.id) = (path, kind, validity, id)
        }

        public func carryOut(for host: AccountHost) async throws(Failure) -> ClaimReport {
            let now = host.clock.agesTo()
            return try await host.failing {
                try await host.database.write { tx in
                    guard let item = try tx.items.item(at: path) else { throw Failure.noItem(path) }
                    guard item.kind == .file else {
                        throw Failure(
                            .badData, "\(path) is a folder", hint: "Claim the files in the folder that you need")
                    }
                    let world = ClaimWorld.current(now: now)
                    try tx.claims.sweep(in: world)
                    let claim = Claim(id: id ?? .random(), item: item.localID, kind: kind, validity: validity)
                    guard claim.isValid(in: world) else {
                        throw Failure(
                            .badData, "The claim's end is in the past", hint: "Give a time in the future")
                    }
                    try tx.claims.add(claim)
                    return ClaimReport(claim: claim, path: item.path)
                }
            }
        }
    }

    /// Removes a claim.
    /// - Throws: `.notFound` if no claim has this id.
    public struct Remove: AccountCommand {
        public static let name = "claim-remove"

        /// The id of the claim.
        public var id: ClaimID

        /// Creates the command.
        public init(_ id: ClaimID) { self.id = id }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Done {
            let now = host.clock.agesTo()
            return try await host.failing {
                try await host.database.write { tx in
                    try tx.claims.remove(id)
                    try tx.claims.sweep(in: .current(now: now))
                }
                return Done()
            }
        }
    }
}

/// A claim with the path of its item.
public struct ClaimReport: Codable, Sendable {
    /// The claim.
    public var claim: Claim
    /// The path of the claimed item.
    public var path: ItemPath
}

extension AccountReader {
    /// Returns the claims that are valid or may become valid, sorted by their items' paths.
    /// - Parameter path: The path of an item; only the claims of this item and of everything below it are returned.
    /// - Throws: `.notFound` if no item is known at the path.
    public func claims(at path: ItemPath = .root) async throws(Failure) -> [ClaimReport] {
        let now = clock.agesTo()
        return try await read { tx in
            if !path.isRoot, try tx.items.item(at: path) == nil { throw Failure.noItem(path) }
            let world = ClaimWorld.current(now: now)
            let claims = try tx.claims.all().compactMap { claim in
                try tx.items.item(localID: claim.item).map { ClaimReport(claim: claim, path: $0.path) }
            }
            return claims.filter { !$0.claim.isOver(in: world) && ($0.path == path || path.isAncestor(of: $0.path)) }
                .sorted { ($0.path, $0.claim.id) < ($1.path, $1.claim.id) }
        }
    }
}

extension ClaimValidity {
    /// Returns a validity that lasts as long as the process that has this number now.
    /// - Throws: `.badData` if no process has the number, `.localIO` if the system does not say.
    public static func whileAlive(_ pid: Int32) throws(Failure) -> ClaimValidity { .process(try .current(pid)) }
}

extension Failure {
    static func noItem(_ path: ItemPath) -> Failure {
        Failure(.notFound, "there is no item \(path)", hint: .listItems)
    }
}
