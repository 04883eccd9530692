import Database
import LocalTree
public import Model

/// What other programs say of copies that they use.
public enum Claims {
    /// Claims the copy of a file; a claim with the same id of the same file is renewed.
    /// - Throws: `.notFound` if nothing is known at the path, `.badData` if it is a folder, or if another item has a claim with
    ///   this id.
    public struct Add: AccountCommand {
        public var path: ItemPath
        public var kind: Claim.Kind
        public var validity: ClaimValidity
        /// Nil: a new one.
        public var id: ClaimID?

        public init(_ path: ItemPath, as kind: Claim.Kind, _ validity: ClaimValidity, id: ClaimID?) {
            (self.path, self.kind, self.validity, self.id) = (path, kind, validity, id)
        }

        public func carryOut(for host: AccountHost) async throws(Failure) -> ClaimReport {
            let now = host.clock.agesTo()
            return try await host.failing {
                try await host.database.write { tx in
                    guard let item = try tx.items.item(at: path) else { throw Failure.noItem(path) }
                    guard item.kind == .file else {
                        throw Failure(.badData, "\(path) is a folder", hint: "Claim the files in it that are needed")
                    }
                    let world = ClaimWorld.current(now: now)
                    try tx.claims.sweep(in: world)
                    let claim = Claim(id: id ?? .random(), item: item.localID, kind: kind, validity: validity)
                    guard claim.isValid(in: world) else {
                        throw Failure(
                            .badData, "The claim would be over already", hint: "Give a time that is to come")
                    }
                    try tx.claims.add(claim)
                    return ClaimReport(claim: claim, path: item.path)
                }
            }
        }
    }

    /// Takes a claim away.
    /// - Throws: `.notFound` if there is no such claim.
    public struct Remove: AccountCommand {
        public var id: ClaimID

        public init(_ id: ClaimID) { self.id = id }

        public func carryOut(for host: AccountHost) async throws(Failure) {
            let now = host.clock.agesTo()
            try await host.failing {
                try await host.database.write { tx in
                    try tx.claims.remove(id)
                    try tx.claims.sweep(in: .current(now: now))
                }
            }
        }
    }
}

/// A claim with where its item is.
public struct ClaimReport: Sendable {
    public var claim: Claim
    public var path: ItemPath
}

extension AccountReader {
    /// The claims that are valid or may become so, by their items' paths.
    /// - Parameter path: Only those of this item, and of all below it.
    /// - Throws: `.notFound` if nothing is known at the path.
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
    /// While the process lives that has this number now.
    /// - Throws: `.badData` if there is none, `.localIO` if the system does not tell.
    public static func whileAlive(_ pid: Int32) throws(Failure) -> ClaimValidity { .process(try .current(pid)) }
}

extension Failure {
    static func noItem(_ path: ItemPath) -> Failure {
        Failure(.notFound, "there is no item \(path)", hint: "`larder ls -r` lists what is known of the server")
    }
}
