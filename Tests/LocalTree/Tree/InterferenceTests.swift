import CLinux
import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import TreeFixture

@testable import LocalTree

/// An operation of another program on a path, at a point between the check and the act.
private enum Deed: CaseIterable {
    /// A write into the file that keeps the file's length.
    case writeInPlace
    /// A write of a new file that is then renamed over the path, as editors do.
    case saveByRename
    case remove
    /// A removal of the file and the creation of another file.
    case recreate
    /// An open for writing that stays open. The program writes through it at the end.
    case holdOpen
    case append
}

/// Another program. It never waits: if a lease is in its way, it tries again after the act, as a waiting `open` would.
private final class Meddler: Sendable {
    private struct State {
        var plan: [TreeHooks.Point: Deed] = [:]
        var path = ""
        var count = 0
        /// The descriptor of a file that the program keeps open for writing.
        var held: Int32 = -1
        /// The texts that the program wrote into each file and has not itself overwritten or removed.
        var texts: [ino_t: [String]] = [:]
        var removed: Set<ino_t> = []
        /// Descriptors that prevent the file system from reusing an inode's number for another file.
        var pins: [Int32] = []
        var waiting: [Deed] = []
    }

    private let state = Mutex(State())

    func begin(path: String, plan: [TreeHooks.Point: Deed]) {
        state.withLock { $0 = State(plan: plan, path: path) }
    }

    func act(at point: TreeHooks.Point) {
        state.withLock { state in
            guard let deed = state.plan.removeValue(forKey: point) else { return }
            Self.perform(deed, &state)
        }
    }

    /// Carries out the operations that a lease delayed, on the path as it is now. Then the program ends.
    /// - Returns: The texts that the program wrote and would find again if it were the only one.
    func end() -> [String] {
        state.withLock { state in
            for deed in state.waiting { Self.perform(deed, &state) }
            if state.held >= 0 {
                Self.write("held-to-the-end-by-somebody", into: state.held, truncating: true, &state)
                close(state.held)
            }
            for pin in state.pins { close(pin) }
            return state.texts.filter { !state.removed.contains($0.key) }.flatMap(\.value)
        }
    }

    private static func perform(_ deed: Deed, _ state: inout State) {
        state.count += 1
        let text = "edit-\(state.count)-of-somebody"
        switch deed {
        case .writeInPlace, .append, .holdOpen:
            let flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | (deed == .append ? O_APPEND : 0)
            let file = open(state.path, flags)
            guard file >= 0 else {
                if errno == EWOULDBLOCK { state.waiting.append(deed) }
                return
            }
            if deed == .holdOpen, state.held < 0 {
                state.held = file
                return
            }
            write(text, into: file, truncating: deed != .append, &state)
            close(file)
        case .saveByRename:
            let file = open(state.path + ".tmp", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            write(text, into: file, truncating: true, &state)
            close(file)
            noteRemoval(&state)
            rename(state.path + ".tmp", state.path)
        case .remove:
            noteRemoval(&state)
            unlink(state.path)
        case .recreate:
            noteRemoval(&state)
            unlink(state.path)
            let file = open(state.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            write(text, into: file, truncating: true, &state)
            close(file)
        }
    }

    private static func write(_ text: String, into file: Int32, truncating: Bool, _ state: inout State) {
        var info = stat()
        fstat(file, &info)
        state.pins.append(open("/proc/self/fd/\(file)", linux_o_path | O_CLOEXEC))
        if truncating {
            ftruncate(file, 0)
            lseek(file, 0, SEEK_SET)
            state.texts[info.st_ino] = []
        }
        _ = Glibc.write(file, text, text.utf8.count)
        state.texts[info.st_ino, default: []].append(text)
    }

    private static func noteRemoval(_ state: inout State) {
        let pin = open(state.path, linux_o_path | O_NOFOLLOW | O_CLOEXEC)
        guard pin >= 0 else { return }
        var info = stat()
        fstat(pin, &info)
        state.pins.append(pin)
        state.removed.insert(info.st_ino)
    }
}

@Suite struct InterferenceTests {
    @Test(
        "P44: whatever another program does between looking and acting, nothing that it wrote is lost",
        arguments: testedFolders, [true, false])
    func property(folder: String, isReplacing: Bool) throws {
        let meddler = Meddler()
        let hooks = TreeHooks(reached: { meddler.act(at: $0) })
        var random = SeededGenerator()
        let seed = random.seed
        try TreeFixture.with(on: folder, hooks: hooks) { fixture in
            for round in 0..<300 {
                meddler.begin(path: "/nowhere", plan: [:])
                let path = "/f\(round)"
                let isProof = Bool.random(using: &random)
                var copy = try fixture.place("the server's old content", at: path)
                if isProof { copy = fixture.settled(copy) }
                var plan: [TreeHooks.Point: Deed] = [:]
                for point in TreeHooks.Point.allCases where Int.random(in: 0..<3, using: &random) == 0 {
                    plan[point] = Deed.allCases.randomElement(using: &random)
                }
                meddler.begin(path: fixture.root + path, plan: plan)
                if isReplacing {
                    _ = try fixture.tree.place(
                        fixture.complete("the server's new content"), at: fixture.path(path), replacing: copy)
                } else {
                    _ = try fixture.tree.remove(at: fixture.path(path), known: copy)
                }
                let written = meddler.end()
                let kept = try Files.filesBelow(fixture.root).map { try Files.text("\(fixture.root)/\($0)") }
                for text in written {
                    #expect(
                        kept.contains { $0.contains(text) },
                        "LARDER_TEST_SEED=\(seed), round \(round): \(plan), proof \(isProof)")
                }
                let aside = fixture.leftInIncoming.filter { $0.utf8.starts(with: "aside".utf8) }
                #expect(aside.isEmpty, "LARDER_TEST_SEED=\(seed), round \(round): \(plan)")
                for name in try Files.names(in: fixture.root) { Files.remove("\(fixture.root)/\(name)") }
            }
        }
    }

    @Test("Without leases a writer that /proc names, or may hide, keeps the copy; none lets it go")
    func withoutLeases() throws {
        let answer = Mutex(OpenFiles.Answer.unused)
        let hooks = TreeHooks(openFiles: { _ in answer.withLock { $0 } })
        try TreeFixture.with(hooks: hooks) { fixture in
            let copy = try fixture.place("old", at: "/a")
            let path = fixture.path("/a")
            for refused in [OpenFiles.Answer.written, .unknown] {
                answer.withLock { $0 = refused }
                #expect(try fixture.tree.remove(at: path, known: copy) == .inUse)
                #expect(try fixture.tree.place(fixture.complete("new"), at: path, replacing: copy) == .inUse)
            }
            answer.withLock { $0 = .read }
            #expect(try fixture.tree.remove(at: path, known: copy) == .inUse)
            answer.withLock { $0 = .unused }
            #expect(try fixture.tree.remove(at: path, known: copy) == .removed)
        }
    }

    @Test("Without leases a writer that comes between looking and acting is noticed afterwards")
    func withoutLeasesAfterwards() throws {
        let isOpen = Mutex(false)
        let hooks = TreeHooks(
            reached: { point in if point == .judged { isOpen.withLock { $0 = true } } },
            openFiles: { $0.st_size == 3 && isOpen.withLock { $0 } ? .written : .unused })
        try TreeFixture.with(hooks: hooks) { fixture in
            let copy = try fixture.place("old", at: "/a")
            #expect(try fixture.tree.remove(at: fixture.path("/a"), known: copy) == .inUse)
            isOpen.withLock { $0 = false }
            #expect(
                try fixture.tree.place(fixture.complete("newer"), at: fixture.path("/a"), replacing: copy) == .inUse)
            #expect(fixture.content("/a") == "old")
            #expect(fixture.leftInIncoming == ["1-a"])
        }
    }
}
