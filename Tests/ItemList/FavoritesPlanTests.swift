import Testing

@testable import ItemList

@Suite struct FavoritesPlanTests {
    @Test("favorites are asked for at a start, then every quarter of an hour, or with each scan if a policy needs them")
    func due() {
        var plan = FavoritesPlan()
        #expect(plan.isDue(policiesDepend: false, at: .zero))
        plan.asked(.updated(changed: true), at: .zero)
        #expect(!plan.isDue(policiesDepend: false, at: .seconds(899)))
        #expect(plan.isDue(policiesDepend: true, at: .seconds(10)))
        #expect(plan.isDue(policiesDepend: false, at: .seconds(900)))
    }

    @Test("a server that did not tell them is asked again after an hour, or when it is connected to anew")
    func refused() {
        var plan = FavoritesPlan()
        plan.asked(.refused, at: .zero)
        #expect(!plan.isDue(policiesDepend: true, at: .seconds(3_599)))
        #expect(plan.isDue(policiesDepend: false, at: .seconds(3_600)))
        plan.connected()
        #expect(plan.isDue(policiesDepend: true, at: .seconds(10)))
        // Another answer takes the place of the refusal.
        plan.asked(.refused, at: .seconds(20))
        plan.asked(.updated(changed: false), at: .seconds(3_620))
        #expect(plan.isDue(policiesDepend: true, at: .seconds(3_630)))
    }
}
