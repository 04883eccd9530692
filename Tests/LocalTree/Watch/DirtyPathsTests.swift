import Model
import Testing

@testable import LocalTree

@Suite struct DirtyPathsTests {
    private func path(_ text: String) -> ItemPath { ItemPath(unchecked: text) }

    private func due(_ dirty: inout DirtyPaths, _ now: Duration) -> [String] {
        dirty.take(now: now).map(\.path.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    @Test("A path is due when it has kept still for a moment, and once")
    func gathering() {
        var dirty = DirtyPaths()
        #expect(dirty.next == nil)
        dirty.mark(path("/a"), .done, now: .zero)
        dirty.mark(path("/a"), .done, now: .milliseconds(200))
        #expect(dirty.next == .milliseconds(500))
        #expect(due(&dirty, .milliseconds(499)) == [])
        #expect(due(&dirty, .milliseconds(500)) == ["/a"])
        #expect(due(&dirty, .seconds(100)) == [])
        #expect(dirty.next == nil)
    }

    @Test("LC7: a file that is being written is left alone until it is closed or quiet, but not for ever")
    func writing() {
        var dirty = DirtyPaths()
        for second in 0...29 { dirty.mark(path("/log"), .underWay, now: .seconds(second)) }
        #expect(dirty.next == .seconds(30))
        #expect(due(&dirty, .seconds(30)) == ["/log"])
        dirty.mark(path("/log"), .underWay, now: .seconds(40))
        #expect(dirty.next == .seconds(42))
        dirty.mark(path("/log"), .done, now: .seconds(41))
        #expect(dirty.next == .milliseconds(41_300))
    }

    @Test("What never keeps still is due all the same")
    func restless() {
        var dirty = DirtyPaths()
        for tenth in 0..<25 { dirty.mark(path("/a"), .done, now: .milliseconds(tenth * 100)) }
        #expect(dirty.next == .milliseconds(2_400))
    }

    @Test("What lies below another due path is looked at with it; what only begins alike is not")
    func covered() {
        var dirty = DirtyPaths()
        for text in ["/a", "/a/b", "/a/c/d", "/ab", "/a b/c"] { dirty.mark(path(text), .done, now: .zero) }
        dirty.mark(path("/a/later"), .underWay, now: .zero)
        #expect(due(&dirty, .seconds(1)) == ["/a", "/a b/c", "/ab"])
        #expect(due(&dirty, .seconds(2)) == ["/a/later"])
    }

    @Test("What could not be compared waits longer each time, and is due at once when it changes again")
    func retrying() throws {
        var dirty = DirtyPaths()
        var now = Duration.zero
        var waits: [Duration] = []
        var last = DirtyPaths.Due(path: path("/a"))
        for _ in 0..<7 {
            dirty.retry(last, now: now)
            let next = try #require(dirty.next)
            waits.append(next - now)
            now = next
            last = try #require(dirty.take(now: now).first)
        }
        #expect(waits == [2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
        dirty.retry(last, now: now)
        dirty.mark(path("/a"), .done, now: now)
        #expect(dirty.next == now + DirtyPaths.gathering)
        #expect(dirty.take(now: now + .seconds(1)).map(\.tries) == [0])

        dirty.mark(path("/b"), .done, now: now)
        dirty.retry(DirtyPaths.Due(path: path("/b"), tries: 3), now: now)
        #expect(dirty.next == now + DirtyPaths.gathering)
    }

    @Test("LC7: too many paths are gathered in the folders above, the deepest first; none is forgotten")
    func bounded() {
        var dirty = DirtyPaths()
        dirty.mark(path("/top"), .done, now: .zero)
        var largest = 0
        for index in 0..<20_000 {
            dirty.mark(path("/folder \(index % 3)/sub \(index % 1_000)/\(index)"), .done, now: .zero)
            largest = max(largest, dirty.count)
        }
        #expect(largest <= DirtyPaths.most)
        let found = Set(dirty.take(now: .seconds(1)).map(\.path))
        #expect(!found.contains(.root) && found.contains(path("/top")))
        let forgotten = (0..<20_000).filter { index in
            var path = path("/folder \(index % 3)/sub \(index % 1_000)/\(index)")
            while !path.isRoot, !found.contains(path) { path = path.parent }
            return path.isRoot
        }
        #expect(forgotten == [])
    }

    @Test("Too many paths directly in the root are the root")
    func manyInRoot() {
        var dirty = DirtyPaths()
        for index in 0...DirtyPaths.most { dirty.mark(path("/\(index)"), .done, now: .zero) }
        #expect(due(&dirty, .seconds(1)) == ["/"])
    }

    @Test("When anything may have changed, all is compared")
    func everything() {
        var dirty = DirtyPaths()
        dirty.mark(path("/a"), .underWay, now: .zero)
        dirty.markAll(now: .zero)
        dirty.mark(path("/b"), .done, now: .zero)
        #expect(due(&dirty, .seconds(1)) == ["/"])
        #expect(dirty.count == 0)
    }

    @Test("Two normal forms of a name are two paths")
    func normalForms() {
        var dirty = DirtyPaths()
        dirty.mark(path("/caf\u{e9}"), .done, now: .zero)
        dirty.mark(path("/cafe\u{301}"), .done, now: .zero)
        #expect(dirty.count == 2)
    }
}
