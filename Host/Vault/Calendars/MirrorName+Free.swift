import Crypto
import Database
import LocalTree
import Model

extension MirrorName {
    enum Use { case free, taken, tooLong }

    /// The first of a row of names that is free: the name itself, then with a number, then with a digest of the key, which no other
    /// object has.
    /// - Parameter use: tells whether a name is in use.
    func firstFree(for key: RecordKey, _ use: (MirrorName) throws -> Use) throws -> MirrorName {
        var base = self
        var number = 0
        // What has even the names with a digest is somebody's; there is an end to it.
        while number < 108 {
            let name = number == 0 ? base : base.distinguished(by: Self.mark(number, for: key))
            switch try use(name) {
            case .free: return name
            case .taken: number += 1
            case .tooLong:
                let shorter = base.shortened
                guard shorter != base else {
                    throw Failure(
                        .localIO, "The file system does not take the name \(name)",
                        hint: "Put the vault on another file system")
                }
                base = shorter
            }
        }
        throw Failure(
            .localIO, "All names for \(key) are taken, \(self) and those like it",
            hint: "Move away what other programs have put into the folder")
    }

    /// What tells a name apart: 2 to 9, a digest, and that with 2 to 99.
    private static func mark(_ number: Int, for key: RecordKey) -> String {
        if number <= 8 { return "\(number + 1)" }
        let digest = SHA256.hash(data: Array(key.text.utf8)).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        return number == 9 ? digest : "\(digest)-\(number - 8)"
    }
}
