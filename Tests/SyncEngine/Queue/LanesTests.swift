import Database
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

struct LanesTests {
    /// A model of the lane rule that compares records one by one, without an index.
    private struct NaiveLanes {
        var records: [(id: SyncRecordID, localID: LocalID, path: ItemPath)] = []

        func isFree(_ id: SyncRecordID) -> Bool {
            guard let record = records.first(where: { $0.id == id }) else { return false }
            return !records.contains { other in
                other.id < id
                    && (other.localID == record.localID || other.path == record.path
                        || other.path.isAncestor(of: record.path) || record.path.isAncestor(of: other.path))
            }
        }
    }

    @Test(
        "What the journal reads ahead as removals are the actions that need no server",
        arguments: SyncRecord.Action.Kind.allCases)
    func removals(kind: SyncRecord.Action.Kind) {
        let isRemoval = if case .removal = kind.type { true } else { false }
        #expect(kind.isRemoval == isRemoval)
        #expect(kind.isRemoval == (kind.budget == .removals))
    }

    @Test("S4: records run in order on an item and along a path, in parallel elsewhere, whatever comes and goes")
    func agreesWithTheRule() throws {
        var random = SeededGenerator()
        let seed = random.seed
        let names = ["a", "ab", "b", "é", "e\u{301}"]
        var lanes = Lanes()
        var naive = NaiveLanes()
        var next: SyncRecordID = 1
        for step in 0..<3000 {
            if naive.records.count < 30, Bool.random(using: &random) {
                let depth = Int.random(in: 0...3, using: &random)
                let path = (0..<depth).map { _ in "/" + names[Int.random(in: 0..<names.count, using: &random)] }
                    .joined()
                let record = (
                    next, LocalID("\(Int.random(in: 0..<40, using: &random))"), try ItemPath(path.isEmpty ? "/" : path)
                )
                naive.records.append(record)
                let isHeldUp = lanes.holdUp(record.1, at: record.2)
                let isFree = lanes.add(record.0, localID: record.1, path: record.2)
                #expect(isHeldUp == !isFree, "LARDER_TEST_SEED=\(seed), step \(step)")
                #expect(isFree == naive.isFree(next), "LARDER_TEST_SEED=\(seed), step \(step)")
                next = next.advanced(by: 1)
            } else if let index = naive.records.indices.randomElement(using: &random) {
                // The removed record is one that may run or one that is cancelled while it waits.
                let record = naive.records[index]
                let before = Set(naive.records.map(\.id).filter { naive.isFree($0) })
                naive.records.remove(at: index)
                let after = Set(naive.records.map(\.id).filter { naive.isFree($0) })
                let freed = Set(lanes.remove(record.id))
                #expect(freed == after.subtracting(before), "LARDER_TEST_SEED=\(seed), step \(step)")
            }
            #expect(
                naive.records.allSatisfy { lanes.isFree($0.id) == naive.isFree($0.id) },
                "LARDER_TEST_SEED=\(seed), step \(step)")
        }
    }

    @Test("S4: /a does not block /ab, nor Docs docs")
    func siblingsAreUnrelated() throws {
        var lanes = Lanes()
        #expect(lanes.add(1, localID: LocalID("1"), path: try ItemPath("/a")))
        #expect(lanes.add(2, localID: LocalID("2"), path: try ItemPath("/ab")))
        #expect(lanes.add(3, localID: LocalID("3"), path: try ItemPath("/Docs/x")))
        #expect(lanes.add(4, localID: LocalID("4"), path: try ItemPath("/docs")))
        #expect(!lanes.add(5, localID: LocalID("5"), path: try ItemPath("/a/b")))
        #expect(lanes.lane(of: 5) == 1)
        let freed = lanes.remove(1)
        #expect(freed == [5])
    }

    @Test("S4: 100,000 records of different files cost no more each than a few do")
    func manyRecords() throws {
        var lanes = Lanes()
        var blocked = 0
        for id: SyncRecordID in 0..<100_000 {
            if !lanes.add(id, localID: LocalID("\(id)"), path: ItemPath(unchecked: "/f\(id.number % 100)/\(id)")) {
                blocked += 1
            }
        }
        #expect(blocked == 0)
        var freed = 0
        for id: SyncRecordID in 0..<100_000 { freed += lanes.remove(id).count }
        #expect(freed == 0)
        #expect(lanes.count == 0)
    }
}

struct WindowTests {
    private func start(_ window: inout Window, _ budget: Window.Budget) -> SyncRecordID? { window.start(budget)?.id }

    private func job(
        _ id: SyncRecordID, _ path: String, _ action: SyncRecord.Action = .download, wait: WaitCondition? = nil
    ) -> Job {
        let item = Item(localID: LocalID(path), fileID: nil, path: ItemPath(unchecked: path), kind: .file)
        let record = SyncRecord(
            id: id, action: action, state: .ready, localID: item.localID, path: item.path, reason: .user,
            since: Timestamp(seconds: 0), wait: wait)
        return Job(record, item: item)
    }

    @Test("S6: no more are started than the budget has places")
    func budget() {
        var window = Window(limits: [.downloads: 2, .removals: 1])
        for id: SyncRecordID in 1...4 { window.add(job(id, "/\(id)")) }
        #expect(start(&window, .downloads) == 1)
        #expect(start(&window, .downloads) == 2)
        #expect(start(&window, .downloads) == nil)
        window.freePlace(1)
        #expect(start(&window, .downloads) == 3)
        window.finish(2)
        #expect(start(&window, .downloads) == 4)
        #expect(!window.isIdle)
    }

    @Test("S37: large uploads leave places to small ones, whose turn is among them")
    func largeUploads() {
        func upload(_ id: SyncRecordID, _ size: Int64) -> Job {
            let upload = Upload(
                snapshot: "put-\(id)", size: size, digest: [], sha1: [], modified: nil, isNew: true)
            return job(id, "/\(id)", .upload(upload))
        }
        var window = Window(limits: [.uploads: 3])
        for id: SyncRecordID in 1...4 { window.add(upload(id, 1 << 30)) }
        for id: SyncRecordID in 5...6 { window.add(upload(id, 1 << 20)) }
        #expect((1...4).map { _ in start(&window, .uploads) } == [1, 2, 5, nil])
        window.finish(5)
        #expect((1...2).map { _ in start(&window, .uploads) } == [6, nil])
        window.finish(6)
        #expect(start(&window, .uploads) == nil)
        window.finish(1)
        #expect((1...2).map { _ in start(&window, .uploads) } == [3, nil])
        window.freePlace(2)
        #expect(start(&window, .uploads) == 4)
    }

    @Test("S4: what comes after a record on its lane starts when that is done, not when it waits")
    func order() {
        var window = Window(limits: [.downloads: 9, .removals: 9])
        window.add(job(1, "/a"))
        window.add(job(2, "/a", .removeLocalCopy(restoringFormerTrigger: false)))
        window.add(job(3, "/b", wait: .issue(1)))
        window.add(job(4, "/b"))
        #expect(start(&window, .downloads) == 1)
        #expect(start(&window, .removals) == nil)
        #expect(start(&window, .downloads) == nil)
        window.park(1)
        #expect(start(&window, .removals) == nil)
        window.finish(1)
        #expect(start(&window, .removals) == 2)
    }

    @Test("S4: the journal can be read again while something is under way")
    func readAgain() {
        var window = Window(limits: [.downloads: 9, .removals: 9])
        window.add(job(1, "/a"))
        #expect(start(&window, .downloads) == 1)
        window.add(job(2, "/a", .removeLocalCopy(restoringFormerTrigger: false)))
        window.add(job(3, "/c"))
        for _ in 0..<3 {
            window.forgetIdle()
            #expect(window.readyCount == 0)
            window.add(job(1, "/a"))
            window.add(job(2, "/a", .removeLocalCopy(restoringFormerTrigger: false)))
            window.add(job(3, "/c"))
        }
        #expect(window.readyCount == 1)
        window.finish(1)
        #expect(window.readyCount(.removals) == 1)
    }
}
