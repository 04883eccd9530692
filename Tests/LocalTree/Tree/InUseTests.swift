import Glibc
import Model
import TestSupport
import Testing
import TreeFixture

@testable import LocalTree

/// Runs another program that holds a file open until `body` returns.
private func withProgram<Result>(
    holding file: String, mode: String, mapped: Bool = false, as user: uid_t? = nil, _ body: () throws -> Result
) async throws -> Result {
    let ready = file + ".ready"
    let map = mapped ? "m=mmap.mmap(f.fileno(),0,access=mmap.ACCESS_\(mode == "rb" ? "READ" : "WRITE"));f.close();" : ""
    let script =
        "import mmap,sys,time;f=open(sys.argv[1],'\(mode)');\(map)open(sys.argv[2],'w').close();time.sleep(600)"
    var arguments = ["python3", "-c", script, file, ready]
    if let user { arguments = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"] + arguments }
    let child = try ChildProcess(arguments[0], Array(arguments.dropFirst()))
    await until { Files.exists(ready) || child.hasEnded }
    guard Files.exists(ready) else { throw SetupError("python3 ended early") }
    do {
        let result = try body()
        await child.stop()
        Files.remove(ready)
        return result
    } catch {
        await child.stop()
        throw error
    }
}

@Suite struct InUseTests {
    @Test("A copy that a program has open is not removed; nor is one replaced that it writes", arguments: testedFolders)
    func openFiles(folder: String) async throws {
        try await TreeFixture.with(on: folder) { fixture in
            let path = fixture.path("/a")
            var copy = try fixture.place("old", at: "/a")
            #expect(fixture.tree.use(at: path) == .none)
            for (mode, mapped) in [("rb", false), ("rb", true)] {
                copy = try await withProgram(holding: fixture.root + "/a", mode: mode, mapped: mapped) {
                    #expect(fixture.tree.use(at: path) == .read)
                    #expect(try fixture.tree.remove(at: path, known: copy) == .inUse)
                    let file = try fixture.complete("old")
                    guard case .placed(let mark) = try fixture.tree.place(file, at: path, replacing: copy) else {
                        throw SetupError("a reader kept the copy from being replaced")
                    }
                    return LocalCopy(etag: copy.etag, digest: file.digest, mark: mark)
                }
            }
            for (mode, mapped) in [("r+b", false), ("r+b", true)] {
                try await withProgram(holding: fixture.root + "/a", mode: mode, mapped: mapped) { [copy] in
                    #expect(fixture.tree.use(at: path) == .written)
                    #expect(try fixture.tree.remove(at: path, known: copy) == .inUse)
                    let outcome = try fixture.tree.place(fixture.complete("new"), at: path, replacing: copy)
                    #expect(outcome == .inUse)
                    #expect(fixture.content("/a") == "old")
                }
            }
            #expect(try fixture.tree.remove(at: path, known: copy) == .removed)
        }
    }

    @Test("Without leases the processes are asked, and one that cannot be looked into means in use")
    func processes() async throws {
        try await TreeFixture.with { fixture in
            _ = try fixture.place("old", at: "/a")
            let name = fixture.root + "/a"
            func answer() -> OpenFiles.Answer {
                var info = stat()
                stat(name, &info)
                return OpenFiles.use(of: info, except: -1)
            }
            // If some process cannot be inspected, only a positive answer is certain.
            let quiet: [OpenFiles.Answer] = [.unused, .unknown]
            #expect(quiet.contains(answer()))
            for (mode, mapped, expected) in [
                ("rb", false, OpenFiles.Answer.read), ("rb", true, .read), ("r+b", false, .written),
                ("r+b", true, .written),
            ] {
                let seen = try await withProgram(holding: name, mode: mode, mapped: mapped) { answer() }
                #expect(seen == expected || (expected == .read && seen == .unknown), "\(mode) \(mapped)")
            }
            #expect(quiet.contains(answer()))
        }
    }
}
