import Glibc
import Model
import TestSupport
import Testing
import TreeFixture

@testable import Database
@testable import LocalTree
@testable import Vault

@Suite struct MarkProofTests {
    private func measured(in folder: String) throws -> MarkProof {
        let descriptor = Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        let proof = try #require(MarkProof.measure(in: descriptor.number))
        #expect(try !Files.names(in: folder).contains("probe"))
        return proof
    }

    @Test("Here times are as fine as the kernel's clock, and tell of each change", arguments: testedFolders)
    func fine(folder: String) throws {
        try TreeFixture.with(on: folder) { fixture in
            let proof = try measured(in: fixture.incoming)
            #expect(!proof.isCoarse && proof.showsChanges && proof.since == nil)
        }
    }

    @Test(
        "Where times are kept in whole seconds that is measured, and looks prove nothing sooner",
        .enabled(if: Build.isRoot, "mounting a disk image needs root"))
    func seconds() async throws {
        try await withTemporaryFolder { folder in
            let image = try await DiskImage.make(.ext4WithSmallInodes, at: folder + "/image")
            try await image.mounted(at: folder + "/disk") {
                let proof = try measured(in: folder + "/disk")
                #expect(proof.isCoarse && proof.step >= .seconds(1) && proof.step < .seconds(2))
            }
        }
    }

    @Test(
        "Looks are proof when nothing can have changed unseen: kept still for a step, told by the kernel, since this boot"
    )
    func proof() {
        let changed = Timestamp(seconds: 100)
        func mark(_ recorded: Duration) -> FileMark {
            FileMark(
                inode: 1, size: 1, modified: Timestamp(seconds: 1), changed: changed, recorded: changed + recorded)
        }
        var proof = MarkProof()
        #expect(proof.isProof(mark(.milliseconds(21))) && !proof.isProof(mark(.milliseconds(20))))
        proof.step = .milliseconds(1_020)
        #expect(!proof.suffices(mark(.milliseconds(21))) && !proof.isProof(mark(.milliseconds(21))))
        #expect(proof.isProof(mark(.milliseconds(1_021))))
        proof.since = changed + .seconds(5)
        #expect(!proof.isProof(mark(.seconds(5))) && proof.suffices(mark(.seconds(5))))
        #expect(proof.isProof(mark(.seconds(6))))
        proof.showsChanges = false
        #expect(!proof.isProof(mark(.seconds(6))) && proof.suffices(mark(.seconds(6))))
    }

    @Test("What is not known as a file system of this kernel's own is not believed")
    func types() {
        // The types are those of vfat, NFS, SMB and FUSE, and 0.
        for type: Int64 in [0x4d44, 0x6969, 0xff53_4d42, 0x6573_5546, 0] { #expect(!MarkProof.keepsOwnTimes(type)) }
        for type: Int64 in [0xef53, 0x0102_1994] { #expect(MarkProof.keepsOwnTimes(type)) }
    }

    @Test("Marks of an earlier boot, or of a time when times were thought to be finer, are no proof; new ones are")
    func stored() throws {
        try withTemporaryFolder { folder in
            let now = Timestamp.now()
            let open = { try Vault.open(at: folder + "/vault", clock: { now }) }
            let recorded = now + .seconds(100)
            func check(_ vault: Vault, _ isProof: Bool) {
                var mark = mark(inode: 1)
                (mark.changed, mark.recorded) = (recorded - .seconds(50), recorded)
                #expect(vault.tree.proof.isProof(mark) == isProof)
                mark.recorded = recorded + .seconds(1)
                #expect(vault.tree.proof.isProof(mark))
            }
            var vault = try open()
            func reopen() throws {
                try vault.close()
                vault = try open()
            }
            check(vault, true)
            try vault.database.writeBlocking { tx in
                var item = fileItem("/a")
                item.cloudStatus = .localCopy
                item.copy = localCopy("1", inode: 1)
                item.copy?.mark.recorded = recorded
                try tx.items.insert(item)
            }
            for key in [MetaKey.bootID, .markStep] {
                try reopen()
                check(vault, true)
                try vault.database.writeBlocking { tx in
                    if key == .bootID { try tx.meta.set(key, "another boot") } else { try tx.meta.set(key, 1) }
                }
                // The clock is behind the clock by which the marks were recorded.
                for _ in 0..<2 {
                    try reopen()
                    check(vault, false)
                }
                try vault.database.writeBlocking { try $0.meta.clear(.marksTrustedSince) }
            }
        }
    }
}
