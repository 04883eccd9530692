import Model
import Testing

/// Tests of conditions about what policies and claims decide.
@Suite struct ItemConditionTests {
    private static func policy(_ path: String, _ condition: String? = nil) -> (policy: ItemPolicy, condition: Condition)
    {
        let place = ItemPath(unchecked: path)
        var policy = ItemPolicy(kind: .availableOffline, condition: condition ?? Condition.at(orBelow: place).text)
        policy.path = place
        // The condition is known to parse.
        return (policy, (try? Condition(parsing: policy.condition)) ?? .constant(false))
    }

    private static func claim(_ validity: ClaimValidity) -> Claim {
        Claim(id: ClaimID("c"), item: report.localID, kind: .read, validity: validity)
    }

    private static let world = ClaimWorld(now: noon) { $0.pid == 1 }

    private func resolved(
        _ text: String, pins: [(policy: ItemPolicy, condition: Condition)] = [], claims: [Claim] = []
    ) throws -> Condition {
        try ItemCondition(parsing: text).resolved { ConditionFacts(policies: pins, claims: claims, world: Self.world) }
    }

    @Test("Q1: a query asks whether an item is kept by a policy of its own, by one above, or by none")
    func levels() throws {
        let own = [Self.policy(report.path.text)]
        for (pins, level) in [
            ([], "none"), ([Self.policy("/Other")], "none"), (own, "direct"), ([Self.policy("/Docs")], "indirect"),
            ([Self.policy("/Docs")] + own, "direct"), ([Self.policy(report.path.text, "removed")], "none"),
        ] {
            for other in ["none", "direct", "indirect"] {
                let holds = try resolved("availableOffline == '\(other)'", pins: pins).matches(report, now: noon)
                #expect(holds == (other == level), "\(level) \(other)")
            }
            #expect(try !resolved("availableOffline == null", pins: pins).matches(report, now: noon))
        }
    }

    @Test("Q1, P54: a query asks for claims, and knows when a claim ends by time alone")
    func claims() throws {
        let alive = ClaimValidity.process(ProcessIdentity(pid: 1, started: 0, boot: ""))
        let dead = ClaimValidity.process(ProcessIdentity(pid: 2, started: 0, boot: ""))
        let hour = ClaimValidity.until(noon + .seconds(3600))
        for (validity, isValid) in [
            (.explicit, true), (hour, true), (.until(noon), false), (alive, true), (dead, false), (.all([]), false),
            (.any([]), false), (.not(hour), false), (.all([hour, alive]), true), (.any([dead, .until(noon)]), false),
        ] as [(ClaimValidity, Bool)] {
            let condition = try resolved("claimed", claims: [Self.claim(validity)])
            #expect(condition.matches(report, now: noon) == isValid, "\(validity)")
            #expect(!condition.matches(bare, now: noon))
        }
        let waits = try resolved("size > 1 && !claimed", claims: [Self.claim(.any([dead, hour]))])
        let change = try #require(waits.nextChange(for: report, after: noon))
        #expect(change.first == noon + .seconds(3600) && change.value)
        #expect(waits.deciding(for: report, now: noon).text == "!claimed")
        #expect(waits.text == "size > 1 && !claimed")
        #expect(try resolved("!claimed", claims: [Self.claim(.explicit)]).nextChange(for: report, after: noon) == nil)
    }

    @Test("Q6: the condition of a policy cannot ask for what policies decide, and the error says where it can be asked")
    func policies() throws {
        for text in [
            "claimed", "removed || !claimed", "availableOffline == 'none'", "path == '/a' && claimed == false",
        ] {
            let found = try #require(error(text))
            #expect(found.kind == .notInPolicy && found.hint?.contains("queries") == true, "\(found)")
            #expect(try ItemCondition(parsing: text).plain == nil)
        }
        #expect(try ItemCondition(parsing: "removed").plain == .property(.removed))
        // The facts are not asked for without need.
        #expect(throws: Never.self) {
            try ItemCondition(parsing: "removed").resolved { () throws in throw Failure(.internal, "read") }
        }
    }
}
