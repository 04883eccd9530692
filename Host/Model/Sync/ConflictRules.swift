import Glibc

/// An account's rules for uploads that meet another version on the server. The first rule that matches a path holds;
/// without one, a person is asked.
public struct ConflictRules: Hashable, Sendable {
    /// What becomes of the upload and of the server's version. The raw value is the config's word.
    public enum Answer: String, Hashable, Sendable, CaseIterable {
        /// A person decides.
        case ask
        /// The file is uploaded under another name. Nothing is lost.
        case keepBoth = "keep-both"
        /// The server's version stays, and the file that was to be uploaded is given up.
        case server
        /// The file replaces the server's version, whatever that is.
        case local
    }

    /// The answer for the paths that match a pattern.
    public struct Rule: Hashable, Sendable {
        /// The pattern, as fnmatch(3) takes it. One with a slash is compared with whole paths, in which `*` matches no
        /// slash, and matches everything below a folder that it matches. One without a slash is compared with names.
        public var pattern: String
        /// The answer.
        public var answer: Answer

        /// Creates a rule.
        public init(pattern: String, answer: Answer) { (self.pattern, self.answer) = (pattern, answer) }

        func matches(_ path: ItemPath) -> Bool {
            guard pattern.utf8.contains(UInt8(ascii: "/")) else { return fnmatch(pattern, path.name, 0) == 0 }
            var whole = pattern.utf8.first == UInt8(ascii: "/") ? pattern : "/" + pattern
            if whole.utf8.last == UInt8(ascii: "/") { whole.removeLast() }
            var place = path
            while !place.isRoot {
                if fnmatch(whole, place.text, FNM_PATHNAME) == 0 { return true }
                place = place.parent
            }
            return false
        }
    }

    /// The rules, the first before the others.
    public var rules: [Rule]

    /// Creates rules.
    public init(_ rules: [Rule] = []) { self.rules = rules }

    /// Returns the answer for a path.
    public func answer(for path: ItemPath) -> Answer { rules.first { $0.matches(path) }?.answer ?? .ask }
}
