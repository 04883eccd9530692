/// The folder on the server that gathers the parts of one upload. A value without I/O.
///
/// Its name tells how large each part is, so that its address alone says which bytes each part has.
struct ChunkFolder: Hashable, Sendable {
    /// The folder's address, without a closing slash.
    let address: ServerAddress
    /// The size in bytes of each part but the last.
    let partSize: Int64

    private static let prefix = "larder-"

    /// Names a new folder.
    /// - Parameters:
    ///   - uploads: The folder of all uploads of the account's user.
    ///   - id: A text of letters and digits that no other folder has.
    init(in uploads: ServerAddress, id: String, partSize: Int64) {
        address = uploads.appending("\(Self.prefix)\(id)-\(partSize)")
        self.partSize = partSize
    }

    /// Reads the address of a folder.
    /// - Returns: nil if it is not the address of such a folder among these uploads.
    init?(_ address: ServerAddress, in uploads: ServerAddress) {
        let start = uploads.path + Self.prefix
        guard address.origin == uploads.origin, address.query.isEmpty, address.path.utf8.starts(with: start.utf8) else {
            return nil
        }
        let words = address.path.dropFirst(start.count).split(separator: "-", omittingEmptySubsequences: false)
        let isPlain = words.joined().utf8.allSatisfy { $0.isHexDigit }
        guard words.count == 2, isPlain, let size = Int64(words[1]), size > 0 else { return nil }
        (self.address, partSize) = (address, size)
    }

    /// Returns the address of a part, the first of which has number 1.
    func part(_ number: Int) -> ServerAddress {
        let digits = String(number)
        return address.appending("/" + String(repeating: "0", count: max(0, 5 - digits.utf8.count)) + digits)
    }

    /// The address of what the parts are together.
    var whole: ServerAddress { address.appending("/.file") }

    /// Returns the address of the folder of all uploads of the user whose files are at an address.
    /// - Returns: nil if the address does not name the user: `/remote.php/webdav/` does not.
    static func uploads(of root: ServerAddress) -> ServerAddress? {
        let names = root.path.split(separator: "/")
        guard let dav = names.indices.first(where: { names[$0...].starts(with: ["remote.php", "dav", "files"]) }),
            names.indices.contains(dav + 3)
        else { return nil }
        let before = names[...(dav + 1)].map { $0 + "/" }.joined()
        return ServerAddress(origin: root.origin, path: "/\(before)uploads/\(names[dav + 3])/")
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
