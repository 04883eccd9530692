import Glibc
import Model
import TestSupport
import Testing

@testable import Vault

@Suite struct VaultOwnerTests {
    @Test("H9: root is refused in another user's vault before anything is made in it, and told as whom to run")
    func other() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/vault"
            try Files.makeFolder(path)
            // Whoever runs the tests, the vault is not root's.
            if geteuid() == 0 { try #require(chown(path, 65_534, 65_534) == 0) }
            let user = geteuid() == 0 ? "nobody" : String(cString: getpwuid(geteuid()).pointee.pw_name)
            let refused = #expect(throws: Failure.self) { try VaultOwner.refuseOther(than: 0, of: path) }
            #expect(refused?.kind == .denied && refused?.hint == .runAs(user: user))
            try VaultOwner.refuseOther(than: geteuid() == 0 ? 65_534 : geteuid(), of: path)
            let above = #expect(throws: Failure.self) { try VaultOwner.refuseOther(than: 0, of: path + "/a/b") }
            #expect(above?.kind == .denied && above?.hint == .runAs(user: user))
            #expect(above?.message.contains("would be made in \(path), which belongs") == true)
            for none in ["", "none", "/none/a"] { try VaultOwner.refuseOther(than: 0, of: none) }
            guard geteuid() == 0 else { return }
            let opened = #expect(throws: Failure.self) { try Vault.open(at: path) }
            let restored = #expect(throws: Failure.self) { try VaultRestore(vault: path).run { _ in } }
            #expect(opened?.kind == .denied && restored?.kind == .denied)
            let begun = #expect(throws: Failure.self) { try Vault.open(at: path + "/a/b") }
            #expect(begun?.kind == .denied)
            #expect(try Files.names(in: path) == [])
        }
    }
}
