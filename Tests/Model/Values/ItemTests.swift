import Model
import Testing

@Suite struct ItemTests {
    private let mark = FileMark(
        inode: 1, size: 2, modified: Timestamp(seconds: 3), changed: Timestamp(seconds: 4),
        recorded: Timestamp(seconds: 5))

    @Test("A file's looks are inode, size and both times, not when they were recorded")
    func looks() {
        var other = mark
        other.recorded = Timestamp(seconds: 9)
        #expect(mark.matches(other))
        let changes: [(inout FileMark) -> Void] = [
            { $0.inode = 9 }, { $0.size = 9 }, { $0.modified.nanoseconds += 1 }, { $0.changed.nanoseconds += 1 },
        ]
        for change in changes {
            var other = mark
            change(&other)
            #expect(!mark.matches(other))
        }
    }

    @Test("Looks are proof only if they were recorded later than the last change by more than the clock's step")
    func conclusiveness() {
        #expect(mark.isConclusive(step: FileMark.clockStep))
        var fresh = mark
        fresh.recorded = fresh.changed + FileMark.clockStep
        #expect(!fresh.isConclusive(step: FileMark.clockStep))
        fresh.recorded.nanoseconds += 1
        #expect(fresh.isConclusive(step: FileMark.clockStep))
        fresh.recorded = fresh.changed - .seconds(10)
        #expect(!fresh.isConclusive(step: FileMark.clockStep))
    }

    @Test("The server's version is newer than the copy when their tags differ, and absent without a copy")
    func remoteVersion() {
        let tag = ETag(opaque: "a", strength: .weak)
        var item = Item(localID: LocalID("x"), fileID: nil, path: ItemPath(unchecked: "/a"), kind: .file, etag: tag)
        #expect(item.remoteVersion == nil)
        item.cloudStatus = .localCopy
        item.copy = LocalCopy(etag: ETag(opaque: "a", strength: .strong), digest: [], mark: mark)
        #expect(item.remoteVersion == .current)
        item.etag = ETag(opaque: "b", strength: .weak)
        #expect(item.remoteVersion == .newer)
        item.cloudStatus = .localOnly
        #expect(item.remoteVersion == nil)
    }

    @Test("Activities are told by name, a trigger is found by its")
    func names() {
        #expect(SyncActivity([.downloading, .moving]).names == ["downloading", "moving"])
        for trigger in Trigger.allCases { #expect(Trigger(name: trigger.name) == trigger) }
        #expect(Trigger(name: "all") == nil)
        #expect(Trigger.allCases.allSatisfy { TriggerMask.all.contains(TriggerMask($0)) })
    }

    @Test("A secret prints as nothing")
    func credentials() {
        let secret = Credentials.basic(username: "ada", password: "hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
            #expect(!text.contains("hunter2"))
        }
    }
}
