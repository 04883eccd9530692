import Model
import Testing

struct ClaimTests {
    private let one = ProcessIdentity(pid: 7, started: 100, boot: "b")
    private let soon = Timestamp(seconds: 10)

    /// Returns the state of the world at a time at which these processes live.
    private func world(_ seconds: Int64, living: Set<ProcessIdentity> = []) -> ClaimWorld {
        ClaimWorld(now: Timestamp(seconds: seconds)) { living.contains($0) }
    }

    @Test("P49: an explicit claim is valid until it is removed, a date's before its date, a process's while it lives")
    func simple() {
        #expect(ClaimValidity.explicit.standing(in: world(.max / 2_000_000_000)) == .always)
        #expect(ClaimValidity.until(soon).standing(in: world(9)) == .now)
        #expect(ClaimValidity.until(soon).standing(in: world(10)) == .over)
        let process = ClaimValidity.process(one)
        #expect(process.standing(in: world(0, living: [one])) == .now)
        #expect(process.standing(in: world(0)) == .over)
        // The process's number belongs to another process now, or the system was restarted.
        for other in [
            ProcessIdentity(pid: 7, started: 101, boot: "b"), ProcessIdentity(pid: 7, started: 100, boot: "c"),
        ] {
            #expect(process.standing(in: world(0, living: [other])) == .over)
        }
    }

    @Test("P49: a group of all is as valid as its least member, one of any as its best; without members neither is")
    func groups() {
        let both = [ClaimValidity.until(soon), .process(one)]
        #expect(ClaimValidity.all(both).standing(in: world(9, living: [one])) == .now)
        #expect(ClaimValidity.all(both).standing(in: world(10, living: [one])) == .over)
        #expect(ClaimValidity.all(both).standing(in: world(9)) == .over)
        #expect(ClaimValidity.any(both).standing(in: world(10, living: [one])) == .now)
        #expect(ClaimValidity.any(both).standing(in: world(9)) == .now)
        #expect(ClaimValidity.any(both).standing(in: world(10)) == .over)
        #expect(ClaimValidity.all([]).standing(in: world(0)) == .over)
        #expect(ClaimValidity.any([]).standing(in: world(0)) == .over)
        #expect(ClaimValidity.all([.explicit, .any([.explicit])]).standing(in: world(0)) == .always)
        #expect(ClaimValidity.any([.explicit, .until(soon)]).standing(in: world(99)) == .always)
    }

    @Test("P49: an inverted claim is valid while the other is not, and is not over before that")
    func inverted() {
        #expect(ClaimValidity.not(.until(soon)).standing(in: world(9)) == .notNow)
        #expect(ClaimValidity.not(.until(soon)).standing(in: world(10)) == .always)
        #expect(ClaimValidity.not(.explicit).standing(in: world(0)) == .over)
        let from10to20 = ClaimValidity.all([.not(.until(soon)), .until(Timestamp(seconds: 20))])
        let standings = [9, 10, 19, 20].map { from10to20.standing(in: world($0)) }
        #expect(standings == [.notNow, .now, .now, .over])
        #expect(ClaimValidity.any([.not(.until(soon)), .process(one)]).standing(in: world(9)) == .notNow)
        let claim = Claim(item: LocalID("a"), kind: .read, validity: from10to20)
        #expect(!claim.isValid(in: world(9)) && !claim.isOver(in: world(9)))
        #expect(claim.isValid(in: world(10)) && claim.isOver(in: world(20)))
    }
}
