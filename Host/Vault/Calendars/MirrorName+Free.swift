import Database
import Digests
import LocalTree
import Model

extension MirrorName {
    enum Use { case free, taken, tooLong }

    /// Returns the first free name of a sequence: the name itself, then the name with a number, then the name with a
    /// digest of the key, which no other object has.
    /// - Parameters:
    ///   - key: The key of the object or calendar.
    ///   - use: Tells whether a name is in use.
    /// - Throws: `.localIO` if no name is free or the file system accepts none, or the errors of `use`.
    func firstFree(for key: RecordKey, _ use: (MirrorName) throws -> Use) throws -> MirrorName {
        var base = self
        var number = 0
        // If even the names with a digest are taken, other programs took them, so the sequence is finite.
        while number < 108 {
            let name = number == 0 ? base : base.distinguished(by: Self.mark(number, for: key))
            switch try use(name) {
            case .free: return name
            case .taken: number += 1
            case .tooLong:
                let shorter = base.shortened
                guard shorter != base else {
                    throw Failure(
                        .localIO, "The file system does not accept the name \(name)",
                        hint: "Put the vault on another file system")
                }
                base = shorter
            }
        }
        throw Failure(
            .localIO, "All names for \(key) are taken, \(self) and those like it",
            hint: "Move the files of other programs out of the folder")
    }

    /// Returns the suffix that distinguishes a name: 2 to 9, then a digest, then the digest with 2 to 99.
    private static func mark(_ number: Int, for key: RecordKey) -> String {
        if number <= 8 { return "\(number + 1)" }
        let digest = hexadecimal(MessageDigest.of(Array(key.text.utf8)).prefix(8))
        return number == 9 ? digest : "\(digest)-\(number - 8)"
    }
}
