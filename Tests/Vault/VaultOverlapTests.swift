import TestSupport
import Testing

@testable import Vault

@Suite struct VaultOverlapTests {
    @Test("W07: a vault and a folder of local copies are known by their marks, from within, above and themselves")
    func overlap() throws {
        try withTemporaryFolder { folder in
            let vault = try Vault.open(at: "\(folder)/home/vault", files: "\(folder)/home/cloud")
            try vault.close()
            try Files.makeFolder("\(folder)/home/cloud/photos/2026")
            // A person's files of the same names do not make a folder a vault of Larder's.
            try Files.write("my vault", to: "\(folder)/mine/vault")
            try Files.write("x", to: "\(folder)/mine/.larder/vault")
            try Files.makeFolder("\(folder)/home/cloudy")
            let own = ("a vault of Larder's", "a folder of local copies of Larder's")
            #expect(Vault.overlap(with: "\(folder)/home/vault") == "it is \(own.0)")
            #expect(
                Vault.overlap(with: "\(folder)/home/vault/files")
                    == "it lies in \(folder)/home/vault, which is \(own.0)")
            #expect(Vault.overlap(with: "\(folder)/home/cloud") == "it is \(own.1)")
            #expect(
                Vault.overlap(with: "\(folder)/home/cloud/photos/2026")
                    == "it lies in \(folder)/home/cloud, which is \(own.1)")
            #expect(Vault.overlap(with: folder)?.contains(" lies in it, which is ") == true)
            #expect(Vault.overlap(with: "\(folder)/home/cloudy") == nil)
            #expect(Vault.overlap(with: "\(folder)/mine") == nil)
            // A vault without its mark is still recognised.
            Files.remove("\(folder)/home/vault/vault")
            #expect(Vault.overlap(with: "\(folder)/home/vault") == "it is \(own.0)")
        }
    }
}
