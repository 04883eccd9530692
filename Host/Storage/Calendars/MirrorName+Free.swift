import Crypto
import Model

extension MirrorName {
    enum Use { case free, taken, tooLong }

    /// The first of a row of names that is free: the name itself, then with a number, then with a digest of the key, which no other
    /// object has.
    /// - Parameter look: tells whether a name is in use.
    func firstFree(for key: RecordKey, _ look: (MirrorName) throws -> Use) throws -> MirrorName {
        var base = self
        let digest = SHA256.hash(data: Array(key.text.utf8)).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        var marks = [nil] + (2...9).map { String($0) } + [digest]
        // What has even that name is somebody's; there is an end to it.
        marks += (2...99).map { "\(digest)-\($0)" }
        var rest = marks[...]
        while let mark = rest.first {
            let name = mark.map { base.distinguished(by: $0) } ?? base
            switch try look(name) {
            case .free: return name
            case .taken: rest = rest.dropFirst()
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
}
