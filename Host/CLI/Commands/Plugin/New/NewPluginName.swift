import Model

/// The name of a new plugin, and the forms in which its files have it.
struct NewPluginName {
    let text: String

    private static let greatestLength = 64

    /// Checks a name. Every language takes a name that is allowed, since no file has it as an identifier.
    /// - Throws: `usage` with what is allowed.
    init(_ text: String) throws(Failure) {
        func isSmall(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        func isAllowed(_ byte: UInt8) -> Bool {
            isSmall(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
        guard let first = text.utf8.first, isSmall(first), text.utf8.allSatisfy(isAllowed), !text.hasSuffix("-"),
            text.utf8.count <= Self.greatestLength
        else {
            throw Failure(
                .usage, "`\(Text.visible(text))` cannot be the name of a plugin",
                hint: "a name consists of lower-case letters, digits and `-`, begins with a letter, does not end with "
                    + "`-`, and has at most \(Self.greatestLength) characters; the folder is made in the current one")
        }
        self.text = text
    }

    /// The plugin's id, until the author gives it another one.
    var id: String { "org.example.\(text)" }

    private var words: [Substring] { text.split(separator: "-") }

    /// What stands in a template, and what takes its place. No form is a part of another one.
    var replacements: [(placeholder: String, text: String)] {
        func capitalized(_ word: Substring) -> String { word.prefix(1).uppercased() + word.dropFirst() }
        return [
            ("plugin-name", text),
            ("plugin_name", text.replacing("-", with: "_")),
            ("PluginName", words.map(capitalized).joined()),
            ("Plugin name", capitalized(words.joined(separator: " ")[...])),
        ]
    }

    /// Returns a text of a template with this name in the place of the placeholders.
    func fill(_ text: String) -> String {
        var filled = ""
        var rest = text[...]
        while let (range, name) = first(in: rest) {
            filled += rest[..<range.lowerBound] + name
            rest = rest[range.upperBound...]
        }
        return filled + rest
    }

    private func first(in text: Substring) -> (Range<Substring.Index>, String)? {
        replacements.compactMap { form in text.firstRange(of: form.placeholder).map { ($0, form.text) } }
            .min { $0.0.lowerBound < $1.0.lowerBound }
    }
}
