import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import TreeFixture

@testable import LocalTree

/// Tests of the kernel's queues that the watchers of many accounts share.
@Suite struct WatchQueuesTests {
    private let queues = WatchQueues()

    /// Creates a watcher that has walked its tree.
    private func watcher(
        of tree: TreeFixture, uses: UseLog? = nil, _ wake: @escaping @Sendable () -> Void = {}
    )
        async throws -> TreeWatcher
    {
        let watcher = try TreeWatcher(
            tree.tree, uses: uses, most: .max, queues: queues, monotonic: { .zero }, wake: wake)
        await watcher.walk()
        return watcher
    }

    /// Returns the paths at which something changed since the last call.
    private func changed(_ watcher: TreeWatcher) async -> Set<String> {
        await watcher.note([])
        return watcher.shared.withLock { shared in Set(shared.dirty.take(now: .seconds(3600)).map(\.path.text)) }
    }

    private func withTrees(_ count: Int, _ body: ([TreeFixture]) async throws -> Void) async throws {
        guard count > 0 else { return try await body([]) }
        try await TreeFixture.with { first in
            try Files.write("old", to: first.root + "/Sub/file")
            try await withTrees(count - 1) { try await body([first] + $0) }
        }
    }

    @Test("H18: forty accounts take sixteen of the kernel's queues; each hears of its own tree alone, and ends alone")
    func many() async throws {
        try await withTrees(40) { trees in
            var watchers: [TreeWatcher] = []
            for tree in trees { watchers.append(try await watcher(of: tree, uses: UseLog())) }
            #expect(queues.state.withLock { $0.queues.count } == 16)
            for tree in trees { try Files.write("new", to: "\(tree.root)/Sub/new") }
            for watcher in watchers { #expect(await changed(watcher) == ["/Sub/new"]) }
            for index in stride(from: 0, to: 40, by: 2) { await watchers[index].end() }
            for tree in trees { try Files.write("newer", to: "\(tree.root)/Sub/newer") }
            for (index, watcher) in watchers.enumerated() {
                #expect(await changed(watcher) == (index.isMultiple(of: 2) ? [] : ["/Sub/newer"]))
            }
            for watcher in watchers { await watcher.end() }
        }
    }

    @Test("H18: two watchers of one folder both hear of it, and go on when the other one ends")
    func sameFolder() async throws {
        try await TreeFixture.with { tree in
            try Files.write("old", to: tree.root + "/Sub/file")
            // More watchers than queues, so that two of them share one.
            var watchers: [TreeWatcher] = []
            for _ in 0..<18 { watchers.append(try await watcher(of: tree)) }
            for number in 0..<18 {
                try Files.write("new", to: "\(tree.root)/Sub/\(number)")
                for watcher in watchers { #expect(await changed(watcher) == ["/Sub/\(number)"]) }
                await watchers.removeFirst().end()
            }
        }
    }

    @Test(
        "H11: while a watcher is held up, as by its disk, the others hear of their changes; it compares all afterwards")
    func heldUp() async throws {
        try await withTrees(2) { trees in
            let gate = Gate()
            let held = try await watcher(of: trees[0]) { gate.passOnThread() }
            let other = try await watcher(of: trees[1])
            try Files.write("new", to: trees[0].root + "/Sub/first")
            await gate.untilReached()
            // More events than are kept for a watcher.
            let files = (0..<2).map { open("\(trees[0].root)/Sub/\($0)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
            defer { for file in files { close(file) } }
            for round in 0..<70_000 { write(files[round % 2], "x", 1) }
            try Files.write("new", to: trees[1].root + "/Sub/new")
            #expect(await changed(other) == ["/Sub/new"])
            gate.open()
            #expect(await changed(held) == ["/"])
            await held.end()
            await other.end()
        }
    }

    @Test("H18: when a queue overflows, the accounts that share it are compared, and no others")
    func overflow() async throws {
        try await withTrees(17) { trees in
            var watchers: [TreeWatcher] = []
            for tree in trees { watchers.append(try await watcher(of: tree)) }
            let found = watchers[0].places.withLock(\.changes)
            let place = try #require(found)
            let sharing = watchers.map { $0.places.withLock(\.changes)?.queue == place.queue }
            #expect(sharing.count(where: \.self) < watchers.count && sharing.count(where: \.self) > 1)
            queues.state.withLock { $0.queues[place.queue]?.hand([.overflow], most: 1) }
            for (watcher, isSharing) in zip(watchers, sharing) {
                #expect(await changed(watcher) == (isSharing ? ["/"] : []))
            }
            for watcher in watchers { await watcher.end() }
        }
    }

    @Test("H18: an event that is read before it is known whose watch it is of is not lost")
    func early() async throws {
        try await TreeFixture.with { tree in
            let watcher = try await watcher(of: tree)
            let found = watcher.places.withLock(\.changes)
            let place = try #require(found)
            // Another watch is being added meanwhile, so that no event of an unknown watch is dropped.
            queues.state.withLock { $0.queues[place.queue]?.adding += 1 }
            let event = WatchEvent(watch: 7_000_000, mask: UInt32(IN_CREATE), name: "x", isAboutEntry: true)
            queues.state.withLock { state in
                state.queues[place.queue]?.hand([event], most: 10)
                #expect(state.queues[place.queue]?.early == [event])
            }
            let root = watcher.folders.withLock { $0.watches.first }
            queues.state.withLock { state in
                state.queues[place.queue]?.early = [
                    WatchEvent(watch: root ?? 0, mask: UInt32(IN_CREATE), name: "x", isAboutEntry: true)
                ]
                state.queues[place.queue]?.holders[root ?? 0] = nil
                state.queues[place.queue]?.added(root ?? -1, by: place.member, most: 10)
                #expect(state.queues[place.queue]?.early == [])
            }
            #expect(await changed(watcher) == ["/x"])
            // Where there was no room for more of them, one may be missing, and all is compared.
            queues.state.withLock { state in
                state.queues[place.queue]?.adding += 1
                state.queues[place.queue]?.early = [event]
                state.queues[place.queue]?.holders[root ?? 0] = nil
                state.queues[place.queue]?.added(root ?? -1, by: place.member, most: 1)
            }
            #expect(await changed(watcher) == ["/"])
            await watcher.end()
        }
    }
}
