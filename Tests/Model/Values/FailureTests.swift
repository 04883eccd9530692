import Model
import Testing

@Suite struct FailureTests {
    @Test("Of several failures the first in the fixed order makes the exit code")
    func worst() {
        let order: [Int32] = [70, 74, 78, 75, 77, 76, 69, 73, 65, 66, 1, 124, 64]
        let kinds = order.compactMap(Failure.Kind.init)
        #expect(kinds.count == Failure.Kind.allCases.count)
        for (position, kind) in kinds.enumerated() {
            #expect(Failure.Kind.worst(of: kinds[position...].reversed()) == kind)
        }
        #expect(Failure.Kind.worst(of: []) == nil)
    }

    @Test("Each kind has a name of its own, and a failure reads as its message and its hint")
    func names() {
        #expect(Set(Failure.Kind.allCases.map(\.code)).count == Failure.Kind.allCases.count)
        #expect(Failure(.failed, "It failed", hint: "try again").description == "It failed\ntry again")
        #expect(Failure(.failed, "It failed").description == "It failed")
    }
}
