import CLinux
import Glibc
import Model
import TestSupport
import Testing

@testable import Database
@testable import LocalTree
@testable import Vault

@Suite struct VaultTests {
    private func fetch(_ content: String, _ path: String, in tree: Tree) throws {
        let file = try tree.incomingFile("1-a")
        try Array(content.utf8).withUnsafeBytes { try file.append($0) }
        guard case .placed = try tree.place(file.finish(modified: nil), at: ItemPath(unchecked: path), replacing: nil)
        else {
            throw SetupError("not placed")
        }
    }

    @Test("V1: a vault has its folders, for the owner alone, and an id that stays")
    func layout() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/home/vault"
            let vault = try Vault.open(at: path)
            #expect(
                try Files.names(in: path).filter { !$0.contains("-") } == [
                    "files", "incoming", "larder.db", "lock", "outgoing", "plugins", "projects", "thumbnails",
                    "unclosed", "vault",
                ])
            for name in ["", "/files", "/incoming", "/outgoing", "/thumbnails", "/projects", "/plugins"] {
                var info = stat()
                #expect(stat(path + name, &info) == 0 && info.st_mode & 0o777 == 0o700, "\(name)")
            }
            #expect(vault.isFirstSinceBoot && !vault.tree.reservesDotLarder)
            try fetch("x", "/.larder/vault", in: vault.tree)
            try vault.close()
            let again = try Vault.open(at: path)
            #expect(again.id == vault.id && !again.isFirstSinceBoot)
        }
    }

    @Test("S27: a second host is refused with the first one's process id; a lock that was left is no obstacle")
    func lock() throws {
        try withTemporaryFolder { folder in
            try Files.write("4194305\n", to: folder + "/vault/lock")
            let vault = try Vault.open(at: folder + "/vault")
            let failure = #expect(throws: Failure.self) { try Vault.open(at: folder + "/vault") }
            #expect(failure?.kind == .vaultLocked)
            #expect(failure?.message.contains("\(getpid())") == true)
            let reading = try Vault.openDatabaseForReading(at: folder + "/vault")
            #expect(try reading.readBlocking { try $0.items.counts().items } == 0)
            try reading.close()
            try vault.close()
            _ = try Vault.open(at: folder + "/vault")
        }
    }

    @Test("S27: a lock file that somebody deleted lets nobody in, and an older host's lock is honoured")
    func deletedLock() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            let vault = try Vault.open(at: path)
            Files.remove(path + "/lock")
            #expect(Vault.isInUse(at: path))
            for _ in 0..<2 {
                let failure = #expect(throws: Failure.self) { try Vault.open(at: path) }
                #expect(failure?.kind == .vaultLocked && failure?.message.contains("(process \(getpid()))") == true)
            }
            try vault.close()
            #expect(!Vault.isInUse(at: path))

            // Hosts of older versions lock only the file.
            let older = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            #expect(linux_lock_open_file(older) == 0 && pwrite(older, "4711\n", 5, 0) == 5)
            let failure = #expect(throws: Failure.self) { try Vault.open(at: path) }
            #expect(failure?.kind == .vaultLocked && failure?.message.contains("(process 4711)") == true)
            #expect(Vault.isInUse(at: path))
            close(older)
            try Vault.open(at: path).close()
        }
    }

    @Test(
        "S27, H9: a host makes a lock file that was removed or replaced anew, with its socket, and only then writes it")
    func lockMadeAnew() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            let vault = try Vault.open(at: path)
            let holder = VaultHolder(process: getpid(), control: .socket("/run/1.sock"))
            vault.announce(controlSocket: "/run/1.sock")
            var before = stat()
            #expect(stat("\(path)/lock", &before) == 0)
            vault.announce(controlSocket: "/run/1.sock")
            var after = stat()
            #expect(stat("\(path)/lock", &after) == 0 && after.st_ino == before.st_ino)
            #expect(after.st_mtim.tv_sec == before.st_mtim.tv_sec && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec)
            for replacement in [nil, "7\n-\n"] {
                #expect(unlink("\(path)/lock") == 0)
                if let replacement { try Files.write(replacement, to: "\(path)/lock", mode: 0o600) }
                vault.announce(controlSocket: "/run/1.sock")
                #expect(VaultHolder.last(of: path) == holder)
                #expect(throws: Failure.self) { try Vault.open(at: path) }
            }
            vault.announce(controlSocket: nil)
            #expect(VaultHolder.last(of: path)?.control == .unknown)
            try vault.close()
            try Vault.open(at: path).close()

            // Nothing is made in what lies in a vault's place.
            let moved = try Vault.open(at: path)
            #expect(rename(path, path + ".away") == 0 && mkdir(path, 0o700) == 0)
            moved.announce(controlSocket: "/run/2.sock")
            #expect(
                try Files.names(in: path) == []
                    && VaultHolder.last(of: path + ".away")?.control == .socket("/run/2.sock"))
            #expect(rmdir(path) == 0 && rename(path + ".away", path) == 0)
            try moved.close()
        }
    }

    @Test("H9: a lock file that somebody wrote over, or emptied, says again who has the vault")
    func lockWrittenOver() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            let vault = try Vault.open(at: path)
            vault.announce(controlSocket: "/run/1.sock")
            for text in ["", "garbage", "1\n/run/2.sock\n"] {
                let file = Glibc.open(path + "/lock", O_WRONLY | O_TRUNC | O_CLOEXEC)
                #expect(write(file, text, text.utf8.count) == text.utf8.count)
                close(file)
                vault.announce(controlSocket: "/run/1.sock")
                #expect(VaultHolder.last(of: path) == VaultHolder(process: getpid(), control: .socket("/run/1.sock")))
            }
            try vault.close()
        }
    }

    @Test("H9: whoever reads a lock file while the host writes it finds the host")
    func lockWhileWritten() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/vault"
            let vault = try Vault.open(at: path)
            vault.announce(controlSocket: "/run/1.sock")
            let isWritten = Gate()
            let writing = Task {
                for number in 0..<5_000 {
                    vault.announce(controlSocket: "/run/\(number % 2 == 0 ? "longer" : "1").sock")
                }
                isWritten.open()
            }
            var lost = 0
            while !isWritten.isOpen {
                let holder = VaultHolder.last(of: path)
                if holder?.process != getpid() || holder?.control == .unknown { lost += 1 }
                await Task.yield()
            }
            await writing.value
            #expect(lost == 0)
            try vault.close()
        }
    }

    @Test("S27: a vault that was closed, or could not be opened, leaves no descriptor open")
    func descriptors() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            func count() throws -> Int {
                try Files.names(in: "/proc/self/fd").count { name in
                    Files.target(of: "/proc/self/fd/" + name).map { $0.utf8.starts(with: folder.utf8) } ?? false
                }
            }
            #expect(try count() == 0)
            for _ in 0..<3 {
                let vault = try Vault.open(at: path)
                let open = try count()
                #expect(open >= 2)
                for _ in 0..<3 { #expect(throws: Failure.self) { try Vault.open(at: path) } }
                #expect(try count() == open)
                try vault.close()
            }
            let older = Glibc.open(path + "/lock", O_RDWR | O_CLOEXEC)
            #expect(linux_lock_open_file(older) == 0)
            #expect(throws: Failure.self) { try Vault.open(at: path) }
            close(older)
            #expect(try count() == 0)
        }
    }

    @Test("H18: beside its database an open vault has its folder, its lock and the folder of copies open, and no more")
    func descriptorsAtRest() throws {
        try withTemporaryFolder { folder in
            for files in [folder + "/vault/files", folder + "/copies"] {
                let path = files.hasSuffix("/copies") ? folder + "/other" : folder + "/vault"
                let vault = try Vault.open(at: path, files: files)
                let open = try Files.names(in: "/proc/self/fd").compactMap { Files.target(of: "/proc/self/fd/" + $0) }
                #expect(
                    open.filter { $0.utf8.starts(with: folder.utf8) && !$0.contains("/larder.db") }.sorted()
                        == [path, path + "/lock", files].sorted())
                try vault.close()
            }
        }
    }

    @Test("S27: a vault that was closed is free, even while a child that is just starting has its lock open")
    func lockOfChild() throws {
        try withTemporaryFolder { folder in
            let vault = try Vault.open(at: folder + "/vault")
            let lock = try #require(
                try Files.names(in: "/proc/self/fd").first {
                    Files.target(of: "/proc/self/fd/" + $0) == folder + "/vault/lock"
                }.flatMap(Int32.init))
            let child = dup(lock)
            defer { close(child) }
            try vault.close()
            try Vault.open(at: folder + "/vault").close()
        }
    }

    @Test("A folder with other things in it is no vault, and a vault without its database keeps its id")
    func strangeFolders() throws {
        try withTemporaryFolder { folder in
            try Files.write("x", to: folder + "/docs/letter")
            let failure = #expect(throws: Failure.self) { try Vault.open(at: folder + "/docs") }
            #expect(failure?.kind == .cannotCreate)
            #expect(try Files.names(in: folder + "/docs") == ["letter"])

            let vault = try Vault.open(at: folder + "/vault", files: folder + "/files")
            try vault.close()
            for suffix in ["", "-wal", "-shm"] { Files.remove(folder + "/vault/larder.db" + suffix) }
            let again = try Vault.open(at: folder + "/vault", files: folder + "/files")
            #expect(again.id == vault.id)
        }
    }

    @Test("Another vault than the known one is not opened, and nothing is written into it, with its mark or without")
    func another() throws {
        try withTemporaryFolder { folder in
            let (path, elsewhere) = (folder + "/vault", folder + "/elsewhere")
            let vault = try Vault.open(at: path)
            try vault.close()
            #expect(rename(path, elsewhere) == 0)
            for mark in ["marked", "unmarked", "new"] {
                Files.remove(path)
                if mark != "new" { try Vault.open(at: path).close() }
                if mark == "unmarked" { Files.remove(path + "/vault") }
                let before = mark == "new" ? [] : try Files.names(in: path)
                let failure = #expect(throws: Failure.self) { try Vault.open(at: path, known: vault.id) }
                #expect(failure?.kind == .localIO && failure?.message.contains("is another one than before") == true)
                if mark != "new" { #expect(try Files.names(in: path) == before, "\(mark)") }
                #expect(Files.exists(path + "/vault") == (mark == "marked"))
            }
            Files.remove(path)
            #expect(rename(elsewhere, path) == 0)
            let same = try Vault.open(at: path, known: vault.id)
            #expect(same.id == vault.id)
        }
    }

    @Test("A folder outside gets the vault's mark, and keeps what lies in it as local files")
    func outside() throws {
        try withTemporaryFolder { folder in
            try Files.write("mine", to: folder + "/files/letter")
            let vault = try Vault.open(at: folder + "/vault", files: folder + "/files")
            #expect(vault.tree.reservesDotLarder)
            #expect(try Files.text(folder + "/files/.larder/vault") == vault.id + "\n")
            let found = try Reconciler(database: vault.database, tree: vault.tree).run()
            #expect(found == [TreeFinding(path: ItemPath(unchecked: "/letter"), kind: .added)])
            let file = try vault.tree.incomingFile("1-a").finish(modified: nil)
            for path in ["/.larder", "/.larder/vault", "/.larder/x/y"] {
                #expect(
                    try vault.tree.place(file, at: ItemPath(unchecked: path), replacing: nil) == .obstructed(.folder))
            }
        }
    }

    @Test("A folder that is not mounted, or another vault's, ends the start; nothing is done")
    func notMounted() throws {
        try withTemporaryFolder { folder in
            let (path, files) = (folder + "/vault", folder + "/files")
            try Vault.open(at: path, files: files).close()
            rename(files, folder + "/unmounted")
            for isEmpty in [false, true] {
                if isEmpty { try Files.makeFolder(files) }
                let failure = #expect(throws: Failure.self) { try Vault.open(at: path, files: files) }
                #expect(failure?.kind == .localIO)
                if isEmpty { #expect(try Files.names(in: files).isEmpty) }
            }
            // The default folder does not replace the configured folder either.
            #expect(throws: Failure.self) { try Vault.open(at: path) }
            Files.remove(files)
            let other = try Vault.open(at: folder + "/other", files: folder + "/otherfiles")
            try other.close()
            let failure = #expect(throws: Failure.self) { try Vault.open(at: path, files: folder + "/otherfiles") }
            #expect(failure?.message.contains("another vault") == true)
            // A person moved the tree to another path together with its mark.
            _ = try Vault.open(at: path, files: folder + "/unmounted")
        }
    }

    @Test("Copies that were in the vault are not given up for a new folder")
    func movedOut() throws {
        try withTemporaryFolder { folder in
            let (path, files) = (folder + "/vault", folder + "/files")
            try Vault.open(at: path).close()
            #expect(throws: Failure.self) { try Vault.open(at: path, files: files) }
            // The test carries out the steps that the hint names.
            try Files.makeFolder(files + "/.larder")
            try Files.write(try Files.read(path + "/vault"), to: files + "/.larder/vault")
            _ = try Vault.open(at: path, files: files)
        }
    }

    @Test("A folder that contains the vault, or is a part of it, is refused")
    func nested() throws {
        try withTemporaryFolder { folder in
            for files in [folder, folder + "/vault", folder + "/vault/incoming", "/"] {
                let failure = #expect(throws: Failure.self) { try Vault.open(at: folder + "/vault", files: files) }
                #expect(failure?.kind == .config, "\(files)")
            }
            #expect(!Files.exists(folder + "/.larder"))
        }
    }

    @Test("On another file system than the vault's, downloads come in beside the tree's mark")
    func otherFileSystem() throws {
        try withTemporaryFolder { folder in
            let files = "/dev/shm/larder-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
            defer { Files.remove(files) }
            let vault = try Vault.open(at: folder + "/vault", files: files)
            try fetch("x", "/a/b", in: vault.tree)
            #expect(try Files.text(files + "/a/b") == "x")
            #expect(Files.isFolder(files + "/.larder/incoming"))

            // A folder of the copies that cannot be written is named, not the vault, which can.
            try vault.close()
            try Files.makeFolder(files + "/.larder/incoming/probe")
            let failure = #expect(throws: Failure.self) { try Vault.open(at: folder + "/vault", files: files) }
            #expect(failure?.kind == .localIO && failure?.message.contains(files + "/.larder/incoming") == true)
            #expect(failure?.message.contains("/vault") == false)
        }
    }
}
