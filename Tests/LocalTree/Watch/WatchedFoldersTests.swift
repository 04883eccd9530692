import Glibc
import Model
import Testing

@testable import LocalTree

@Suite struct WatchedFoldersTests {
    private func path(_ text: String) -> ItemPath { ItemPath(unchecked: text) }

    /// The folders `/` with watch 1, `/a` with 2, `/a/b` with 3, `/a/b/c` with 4, and `/x` with 5.
    private var folders: WatchedFolders {
        var folders = WatchedFolders()
        for (watch, text) in [(1, "/"), (2, "/a"), (3, "/a/b"), (4, "/a/b/c"), (5, "/x")] {
            _ = folders.put(Int32(watch), at: path(text))
        }
        return folders
    }

    private func steps(
        _ watch: Int32, _ mask: Int32..., name: String?, in folders: WatchedFolders? = nil
    ) -> [WatchedFolders.Step] {
        let event = WatchEvent(
            watch: watch, mask: mask.reduce(0) { $0 | UInt32($1) }, name: name, isAboutEntry: name != nil)
        return (folders ?? self.folders).steps(for: event) { $0.text == "/.larder" }
    }

    @Test("A watch is known by its folder's path and the path by its watch, also after a move")
    func paths() {
        var folders = folders
        #expect(folders.path(of: 4) == path("/a/b/c") && folders.watch(at: path("/a/b/c")) == 4)
        #expect(folders.path(of: 1) == .root && folders.watch(at: .root) == 1)
        #expect(folders.put(3, at: path("/x/new")) == [])
        #expect(folders.path(of: 4) == path("/x/new/c"))
        #expect(folders.watch(at: path("/a/b")) == nil && folders.watch(at: path("/a/b/c")) == nil)
        #expect(folders.count == 5)
    }

    @Test("Another folder at a path takes the place of the one that was known there, and of all below it")
    func replaced() {
        var folders = folders
        #expect(folders.put(9, at: path("/a")).map(Set.init) == [2, 3, 4])
        #expect(folders.path(of: 9) == path("/a") && folders.path(of: 3) == nil && folders.count == 3)
        // A watch that was below the replaced folder stays if it is the new folder's watch.
        var moved = self.folders
        #expect(moved.put(4, at: path("/a")).map(Set.init) == [2, 3])
        #expect(moved.path(of: 4) == path("/a") && moved.count == 3)
    }

    @Test("A folder without a watched folder above is not known, nor one that would be in itself")
    func impossible() {
        var folders = folders
        #expect(folders.put(9, at: path("/none/d")) == nil)
        #expect(folders.path(of: 9) == nil && folders.count == 5)
        #expect(folders.put(2, at: path("/a/b/a")) == nil)
        #expect(folders.count == 2)
    }

    @Test("A folder goes with all below it")
    func removed() {
        var folders = folders
        #expect(Set(folders.remove(2)) == [2, 3, 4])
        #expect(folders.remove(2) == [])
        #expect(Set(folders.watches) == [1, 5])
    }

    @Test("What follows from an event: a file's, by whether more is to come")
    func files() {
        for mask in [IN_CREATE, IN_MODIFY, IN_ATTRIB] {
            #expect(steps(2, mask, name: "f") == [.mark(path("/a/f"), .underWay)])
        }
        for mask in [IN_CLOSE_WRITE, IN_MOVED_TO, IN_MOVED_FROM, IN_DELETE] {
            #expect(steps(1, mask, name: "f") == [.mark(path("/f"), .done)])
        }
    }

    @Test("What follows from an event: a folder's")
    func foldersOwn() {
        for mask in [IN_CREATE, IN_MOVED_TO] {
            #expect(steps(2, mask, IN_ISDIR, name: "n") == [.enter(path("/a/n")), .mark(path("/a/n"), .done)])
        }
        #expect(steps(2, IN_MOVED_FROM, IN_ISDIR, name: "b") == [.leave(3), .mark(path("/a/b"), .done)])
        #expect(steps(2, IN_DELETE, IN_ISDIR, name: "b") == [.mark(path("/a/b"), .done)])
        #expect(steps(2, IN_ATTRIB, IN_ISDIR, name: "b") == [])
        #expect(
            steps(2, IN_ATTRIB, IN_ISDIR, name: "closed") == [
                .enter(path("/a/closed")), .mark(path("/a/closed"), .underWay),
            ])
        #expect(steps(3, IN_IGNORED, name: nil) == [.forget(3)])
        #expect(steps(3, IN_ATTRIB, IN_ISDIR, name: nil) == [])
    }

    @Test("What follows from an event: all may have changed, the root may have gone, or nothing")
    func others() {
        #expect(steps(-1, IN_Q_OVERFLOW, name: nil) == [.everything])
        for mask in [IN_MOVE_SELF, IN_DELETE_SELF, IN_UNMOUNT] {
            #expect(steps(1, mask, name: nil) == [.root])
            #expect(steps(2, mask, name: nil) == [])
        }
        // The events concern a watch that has ended, the tree's own mark, and names that no item has.
        #expect(steps(77, IN_CREATE, name: "f") == [])
        #expect(steps(1, IN_CREATE, IN_ISDIR, name: ".larder") == [])
        #expect(steps(1, IN_CREATE, name: String(repeating: "n", count: 256)) == [])
        let nameless = WatchEvent(watch: 1, mask: UInt32(IN_CREATE), name: nil, isAboutEntry: true)
        #expect(folders.steps(for: nameless) { _ in false } == [])
    }

    @Test("Events are read as the kernel writes them, with names that are not UTF-8 told apart from none")
    func reading() {
        func bytes(_ watch: Int32, _ mask: Int32, _ name: [UInt8]) -> [UInt8] {
            let words = [UInt32(bitPattern: watch), UInt32(mask), 7, UInt32(name.count)]
            return words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } } + name
        }
        let all =
            bytes(3, IN_CREATE, Array("new\nline".utf8) + [0, 0, 0, 0, 0, 0, 0, 0])
            + bytes(-1, IN_Q_OVERFLOW, []) + bytes(4, IN_DELETE, [0xff, 0x41, 0, 0])
        let events = all.withUnsafeBytes { WatchEvent.all(in: $0) }
        #expect(
            events == [
                WatchEvent(watch: 3, mask: UInt32(IN_CREATE), name: "new\nline", isAboutEntry: true),
                WatchEvent(watch: -1, mask: UInt32(IN_Q_OVERFLOW), name: nil, isAboutEntry: false),
                WatchEvent(watch: 4, mask: UInt32(IN_DELETE), name: nil, isAboutEntry: true),
            ])
    }
}
