import Testing

@testable import SyncEngine

@Suite struct CountersTests {
    @Test("H12: bytes that are to come add up to the largest number at most")
    func sums() {
        let counters = Counters()
        for _ in 0..<2 { counters.expect(files: 1, bytes: .max) }
        #expect(counters.current.filesTotal == 2 && counters.current.bytesTotal == .max)
        counters.change { $0.bytesDone = 1 }
        counters.begin((files: 3, bytes: .max))
        #expect(counters.current.filesTotal == 3 && counters.current.bytesTotal == .max)
    }
}
