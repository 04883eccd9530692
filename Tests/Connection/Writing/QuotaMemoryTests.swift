import Model
import Testing

@testable import Connection

struct QuotaMemoryTests {
    private let a = ItemPath(unchecked: "/a")
    private let b = ItemPath(unchecked: "/b")

    @Test("S52: what a folder tells of its quota, none too, holds for a minute and for that folder alone")
    func remembered() {
        var quotas = QuotaMemory()
        #expect(!quotas.hasRoom(for: 1, in: a, at: .zero))
        quotas.told(nil, by: a, at: .zero)
        #expect(quotas.hasRoom(for: .max, in: a, at: .seconds(59)) && !quotas.hasRoom(for: 1, in: b, at: .zero))
        #expect(!quotas.hasRoom(for: 1, in: a, at: .seconds(60)))
        quotas.told(10, by: b, at: .seconds(60))
        #expect(quotas.hasRoom(for: 10, in: b, at: .seconds(60)) && !quotas.hasRoom(for: 11, in: b, at: .seconds(60)))
        // What was taken elsewhere may count here too.
        quotas.took(4, in: a)
        #expect(quotas.hasRoom(for: 6, in: b, at: .seconds(60)) && !quotas.hasRoom(for: 7, in: b, at: .seconds(60)))
    }

    @Test("S52: a folder without room is asked anew, until it has taken an upload")
    func full() {
        var quotas = QuotaMemory()
        quotas.told(nil, by: a, at: .zero)
        quotas.told(100, by: b, at: .zero)
        quotas.lacksRoom(in: a)
        #expect(quotas.isFull(a) && !quotas.isFull(b))
        #expect(!quotas.hasRoom(for: 1, in: a, at: .zero) && !quotas.hasRoom(for: 1, in: b, at: .zero))
        quotas.took(1, in: a)
        #expect(!quotas.isFull(a))
    }
}
