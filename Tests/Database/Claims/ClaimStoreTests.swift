import Model
import TestSupport
import Testing

@testable import Database

struct ClaimStoreTests {
    private let process = ProcessIdentity(pid: 7, started: .max, boot: "1b2c-3d")

    /// One validity of every form, including nested groups.
    private var shapes: [ClaimValidity] {
        let until = ClaimValidity.until(Timestamp(nanoseconds: 1_795_255_200_000_000_001))
        return [
            .explicit, until, .process(process), .not(.explicit), .all([]), .any([]),
            .any([until, .all([.process(process), .not(.all([until, .explicit]))])]),
        ]
    }

    @Test("P49: a claim of any shape is read as it was written, by its item and by its id")
    func roundTrip() throws {
        try withDatabase { database in
            let item = try database.writeBlocking { try $0.items.insert(fileItem("/a")) }
            let claims = shapes.enumerated().map { index, validity in
                Claim(
                    id: ClaimID("c\(index)' \"ü"), item: item.localID, kind: Claim.Kind.allCases[index % 3],
                    validity: validity)
            }
            try database.writeBlocking { tx in
                for claim in claims { try tx.claims.add(claim) }
            }
            let read = try database.readBlocking { reads in
                [try reads.claims.of(item.localID), try reads.claims.all(), try reads.claims.of(.random())]
            }
            #expect(read == [claims, claims, []])
            let one = try database.readBlocking { try $0.claims.claim(ClaimID("c6' \"ü")) }
            #expect(one == claims[6])
        }
    }

    @Test("P49: a claim is nested as deep as it can be read, and one deeper is refused when it is made")
    func depth() throws {
        func nested(_ levels: Int) -> ClaimValidity {
            (0..<levels).reduce(.explicit) { inner, level in
                level % 3 == 0 ? .not(inner) : level % 3 == 1 ? .all([.explicit, inner]) : .any([inner])
            }
        }
        try withDatabase { database in
            let item = try database.writeBlocking { try $0.items.insert(fileItem("/a")) }
            func add(_ levels: Int) throws {
                try database.writeBlocking { tx in
                    try tx.claims.add(
                        Claim(
                            id: ClaimID("\(levels)"), item: item.localID, kind: .read, validity: nested(levels)))
                }
            }
            try add(15)
            for levels in [16, 100] {
                let refused = #expect(throws: Failure.self) { try add(levels) }
                #expect(refused?.kind == .badData)
            }
            #expect(try database.readBlocking { try $0.claims.all() }.map(\.validity) == [nested(15)])
        }
    }

    @Test("A claim with the id of another of the same item renews it; another item's is refused")
    func renewal() throws {
        try withDatabase { database in
            let (a, b) = try database.writeBlocking {
                (try $0.items.insert(fileItem("/a")), try $0.items.insert(fileItem("/b")))
            }
            let id = ClaimID("job")
            let add = { (item: Item, kind: Claim.Kind) in
                try database.writeBlocking { tx in
                    try tx.claims.add(Claim(id: id, item: item.localID, kind: kind, validity: .explicit))
                }
            }
            try add(a, .read)
            try add(a, .write)
            let stored = try database.readBlocking { try $0.claims.all() }
            #expect(stored.map(\.kind) == [.write])
            let refused = #expect(throws: Failure.self) { try add(b, .read) }
            #expect(refused?.kind == .badData)
            try database.writeBlocking { try $0.claims.remove(id) }
            let unknown = #expect(throws: Failure.self) { try database.writeBlocking { try $0.claims.remove(id) } }
            #expect(unknown?.kind == .notFound)
        }
    }

    @Test("P49: a sweep takes away what is over and what has no item, and nothing else")
    func sweep() throws {
        try withDatabase { database in
            let world = ClaimWorld(now: Timestamp(seconds: 10)) { _ in false }
            let (past, later) = (
                ClaimValidity.until(Timestamp(seconds: 9)), ClaimValidity.until(Timestamp(seconds: 11))
            )
            let item = try database.writeBlocking { tx in
                let item = try tx.items.insert(fileItem("/a")).localID
                let kept = [ClaimValidity.explicit, later, .not(later), .any([past, later])]
                let over = [past, .process(process), .not(.explicit), .all([later, past])]
                for (index, validity) in (kept + over).enumerated() {
                    try tx.claims.add(Claim(id: ClaimID("\(index)"), item: item, kind: .read, validity: validity))
                }
                try tx.claims.add(Claim(id: ClaimID("8"), item: .random(), kind: .read, validity: .explicit))
                return item
            }
            let valid = try database.readBlocking { try $0.claims.valid(of: item, in: world) }
            #expect(valid.map(\.id.text) == ["0", "1", "3"])
            let swept = try database.writeBlocking { try $0.claims.sweep(in: world) }
            let left = try database.readBlocking { try $0.claims.all() }
            #expect(swept == 5 && left.map(\.id.text) == ["0", "1", "2", "3"])
        }
    }

    @Test("An item without claims costs one look, and nothing is asked of the system")
    func withoutClaims() throws {
        try withDatabase { database in
            var isAsked = false
            let world = {
                isAsked = true
                return ClaimWorld(now: Timestamp(seconds: 0)) { _ in true }
            }
            let valid = try database.readBlocking { try $0.claims.valid(of: .random(), in: world()) }
            #expect(valid.isEmpty && !isAsked)
        }
    }
}
