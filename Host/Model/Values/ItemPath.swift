/// The path of an item on the server: decoded, absolute and without a closing slash. The root is `/`.
///
/// A value of this type is safe to use below a folder. No component is empty, `.` or `..`, contains a NUL, or is longer
/// than 255 bytes, the limit of Linux's file systems.
public struct ItemPath: CodableText {
    public let text: String

    /// The root.
    public static let root = ItemPath(unchecked: "/")

    /// The reason why a text is not the path of an item.
    public enum Problem: Error, Equatable, Sendable {
        case notAbsolute, emptyName, dotName, nul, nameTooLong, pathTooLong, slashInName, notUTF8
        /// The name of the marker of a tree that lies outside its vault.
        case reserved

        /// The explanation for people, which continues a sentence that begins with "it cannot be kept here:".
        public var explanation: String {
            switch self {
            case .notAbsolute: "it does not begin with a slash"
            case .emptyName: "a name in it is empty"
            case .dotName: "a name in it is . or .., which would leave its folder"
            case .nul: "a name in it has a NUL"
            case .nameTooLong: "a name in it is longer than \(ItemPath.longestName) bytes"
            case .pathTooLong: "it is longer than \(ItemPath.longestPath) bytes"
            case .slashInName: "a name in it has a slash"
            case .notUTF8: "it is not UTF-8"
            case .reserved: "Larder keeps its own files under this name"
            }
        }
    }

    /// The length of the longest file name on Linux, in bytes (`NAME_MAX`).
    public static let longestName = 255
    /// The length of the longest path that is kept, in bytes. Together with the tree's own path it stays below
    /// `PATH_MAX`.
    public static let longestPath = 3_500

    /// Creates a path from a text. Drops one closing slash.
    /// - Throws: ``Problem``, the reason why the path is unsafe or impossible to keep below a folder.
    public init(_ text: String) throws(Problem) {
        if let problem = text.withBytes(Self.problem(in:)) { throw problem }
        let hasClosingSlash = text.utf8.count > 1 && text.utf8.last == UInt8(ascii: "/")
        self.text = hasClosingSlash ? String(text.utf8.dropLast()) ?? text : text
    }

    private static func problem(in path: UnsafeRawBufferPointer) -> Problem? {
        let slash = UInt8(ascii: "/")
        guard path.first == slash else { return .notAbsolute }
        guard path.count <= longestPath else { return .pathTooLong }
        guard path.count > 1 else { return nil }
        var rest = (path.last == slash ? path.dropLast() : path[...]).dropFirst()
        while true {
            let end = rest.firstIndex(of: slash) ?? rest.endIndex
            if let problem = problem(inName: rest[..<end]) { return problem }
            guard end < rest.endIndex else { return nil }
            rest = rest[(end + 1)...]
        }
    }

    /// Creates a path from a person's input. The leading slash may be missing, and one closing slash is dropped.
    /// - Throws: As ``init(_:)``, but never ``Problem/notAbsolute``.
    public init(typed text: String) throws(Problem) {
        try self.init(text.utf8.first == UInt8(ascii: "/") ? text : "/" + text)
    }

    /// Creates a path from a text that is known to be valid, such as one read from the database.
    @inlinable
    public init(unchecked text: String) { self.text = text }

    private static func problem(inName name: Slice<UnsafeRawBufferPointer>) -> Problem? {
        if name.isEmpty { return .emptyName }
        if name.count > longestName { return .nameTooLong }
        if name.count <= 2, name.allSatisfy({ $0 == UInt8(ascii: ".") }) { return .dotName }
        if name.contains(0) { return .nul }
        return nil
    }

    /// Whether the path is the root.
    public var isRoot: Bool { text.utf8.count == 1 }

    /// The last component. Empty for the root.
    public var name: String {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return text }
        return String(text[text.utf8.index(after: slash)...])
    }

    /// The folder that contains the item. The root's parent is the root.
    public var parent: ItemPath {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")), slash != text.startIndex else { return .root }
        return ItemPath(unchecked: String(text[..<slash]))
    }

    /// Returns the path of the item with a name in this folder.
    /// - Throws: ``Problem/slashInName``, ``Problem/emptyName``, ``Problem/dotName``, ``Problem/nul`` or
    ///   ``Problem/nameTooLong`` for the name, and ``Problem/pathTooLong`` for the resulting path.
    public func appending(_ name: String) throws(Problem) -> ItemPath {
        let problem: Problem? = name.withBytes { name in
            name.contains(UInt8(ascii: "/")) ? .slashInName : Self.problem(inName: name[...])
        }
        if let problem { throw problem }
        let path = prefixOfItemsBelow + name
        guard path.utf8.count <= Self.longestPath else { throw .pathTooLong }
        return ItemPath(unchecked: path)
    }

    /// The text with which the path of every item below this folder begins, at any depth: `/Photos/`, or `/` for the
    /// root.
    public var prefixOfItemsBelow: String { isRoot ? "/" : text + "/" }

    /// Tells whether `other` lies below this folder, at any depth. `/a` is neither above `/ab` nor above itself.
    public func isAncestor(of other: ItemPath) -> Bool {
        partBelow(other) { !$0.isEmpty }
    }

    /// Tells whether `other` lies in this folder itself.
    public func isParent(of other: ItemPath) -> Bool {
        partBelow(other) { !$0.isEmpty && !$0.contains(UInt8(ascii: "/")) }
    }

    /// Calls `body` with the bytes of another path after this folder's path and a slash; with none if the other path is
    /// neither below this folder nor this folder.
    private func partBelow(_ other: ItemPath, _ body: (Slice<UnsafeRawBufferPointer>) -> Bool) -> Bool {
        text.withBytes { own in
            other.text.withBytes { others in
                // The root's path is its slash.
                let own = own.count == 1 ? own[..<0] : own[...]
                let end = own.count
                guard others.count > end, others[end] == UInt8(ascii: "/"),
                    orderOfBytes(UnsafeRawBufferPointer(rebasing: own), .init(rebasing: others[..<end])) == 0
                else { return body(others[..<0]) }
                return body(others[(end + 1)...])
            }
        }
    }

    /// Returns the path of the same item after the folder `old` has become `new`. `old` must be this path or an
    /// ancestor of it.
    public func moved(from old: ItemPath, to new: ItemPath) -> ItemPath {
        if self == old { return new }
        let below = text.utf8.dropFirst(old.prefixOfItemsBelow.utf8.count)
        return ItemPath(unchecked: new.prefixOfItemsBelow + String(decoding: below, as: UTF8.self))
    }

    /// Returns this path with its beginning spelled as in another one.
    ///
    /// Some servers store names decomposed (Unicode's normalization form D), and list them so whatever form they were
    /// asked for. If this path and `known`, or a folder above this path and `known`, are the same but for the form, the
    /// result begins with `known`. All other paths stay as they are.
    public func spelled(as known: ItemPath) -> ItemPath {
        guard self != known, !known.isAncestor(of: self) else { return self }
        let (names, wanted) = (components, known.components)
        // Texts are equal in Swift if they are the same in every normalization form.
        guard names.count >= wanted.count, names.prefix(wanted.count).elementsEqual(wanted) else { return self }
        return names.dropFirst(wanted.count).reduce(known) { ItemPath(unchecked: $0.prefixOfItemsBelow + $1) }
    }

    /// The names from the root down. Empty for the root.
    public var components: [String] {
        text.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }
}
