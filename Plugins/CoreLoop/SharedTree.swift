import LarderSDK

/// The space that contains the account's files. On a server with spaces, a share's path is a path in the item's space,
/// and the same path in another space is another item.
struct SharedTree {
    private let dav: Host.DAV
    private let home: String
    /// Whether the files are at a space's own address, which contains nothing else.
    private let isSpace: Bool
    /// The space's id. Nil: it is not known yet, or the server names none.
    private var space: String?
    private var hasAsked = false

    /// Creates the tree. Nil: the server keeps no files.
    /// - Throws: A ``PluginError`` of ``Host/Discover/filesHome()`` other than ``Status/unsupported``.
    init?(_ discover: Host.Discover, _ dav: Host.DAV) throws(PluginError) {
        do throws(PluginError) { home = try discover.filesHome() } catch {
            guard error.status == .unsupported else { throw error }
            return nil
        }
        self.dav = dav
        let names = home.split(separator: "/")
        let spaces = names.firstIndex { $0 == "spaces" }
        isSpace = spaces.map { $0 > 0 && names[$0 - 1] == "dav" && $0 + 1 < names.count } ?? false
        if isSpace, let spaces { space = Self.decoded(names[spaces + 1]) }
    }

    /// Tells whether a share's path is a path in this tree.
    /// - Parameters:
    ///   - direction: Who shares the item.
    ///   - shared: The space of the shared item. Nil: the server does not say.
    mutating func has(_ direction: Share.Direction, from shared: String?) throws(PluginError) -> Bool {
        guard isSpace || direction == .byMe else {
            // Items that others share are mounted in a home.
            return true
        }
        guard let shared else { return !isSpace }
        if !isSpace, !hasAsked { try ask() }
        return space.map { Self.isSame($0, shared) } ?? true
    }

    private mutating func ask() throws(PluginError) {
        var answer = try dav.propfind(
            home, depth: 0, ["{http://owncloud.org/ns}spaceid", "{http://owncloud.org/ns}id"])
        guard let root = try answer.next(), root.status == 200 else { return }
        hasAsked = true
        space = root.values[0] ?? root.values[1].flatMap(Self.space)
    }

    /// Returns the space in an item's id `STORAGE$SPACE!ITEM`, or nil if the id names none.
    static func space(of id: String) -> String? {
        guard let end = id.utf8.firstIndex(of: UInt8(ascii: "!")), end > id.startIndex else { return nil }
        return String(id[..<end])
    }

    /// Compares two ids of spaces. An id may lack the space's storage.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (one.split(separator: "$"), other.split(separator: "$"))
        guard let last = one.last, let otherLast = other.last, last.utf8.elementsEqual(otherLast.utf8) else {
            return false
        }
        return one.count != other.count || one.elementsEqual(other) { $0.utf8.elementsEqual($1.utf8) }
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let decoded = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
