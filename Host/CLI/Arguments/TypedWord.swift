/// The beginning of a word as it was typed in a shell, with the shell's quoting.
struct TypedWord {
    /// The quotes that are open at the end of what was typed.
    enum Quotes {
        case none
        case single
        case double
        /// Quotes that do not begin the word.
        case inside
    }

    /// What was typed means this, without the quoting.
    let meaning: String
    let quotes: Quotes
    /// Whether the word begins with the home folder as a shell abbreviates it.
    let isBelowHome: Bool

    /// Reads what was typed. Nothing in it is expanded.
    init(_ typed: String) {
        var meaning = String.UnicodeScalarView()
        var open: (quote: Unicode.Scalar, isFirst: Bool)?
        var isEscaped = false
        // To a shell a quote is one also where a combining character follows.
        for (index, scalar) in typed.unicodeScalars.enumerated() {
            if isEscaped {
                meaning.append(scalar)
                isEscaped = false
            } else if scalar == "\\", open?.quote != "'" {
                isEscaped = true
            } else if open?.quote == scalar {
                open = nil
            } else if open == nil, scalar == "'" || scalar == "\"" {
                open = (scalar, index == 0)
            } else {
                meaning.append(scalar)
            }
        }
        self.meaning = String(meaning)
        quotes = open.map { !$0.isFirst ? .inside : $0.quote == "'" ? .single : .double } ?? .none
        isBelowHome = typed.hasPrefix("~/")
    }

    /// Returns a text in the form that stands for it in bash in the place of this word, behind the quote if one is open;
    /// nil if there is no such form. Bash inserts the form as it is, and carries out nothing of it.
    func form(of text: String) -> String? {
        let scalars = text.unicodeScalars
        switch quotes {
        case .none: return isBelowHome ? "~" + Self.escaped(String(scalars.dropFirst())) : Self.escaped(text)
        case .single:
            let form = scalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined()
            // A form that ends with a quote closes the word by itself.
            return scalars.last == "'" ? form + "'" : form
        case .double:
            // In double quotes nothing keeps bash from replacing an exclamation mark by an earlier command.
            if scalars.contains("!") { return nil }
            let form = Text.escaped(text) { #"\"$`"#.unicodeScalars.contains($0) }
            return scalars.last == "\"" ? form + "\"" : form
        case .inside: return nil
        }
    }

    /// Returns the text with a backslash before each character that bash may take for more than itself. A colon ends a
    /// word that is completed.
    private static func escaped(_ text: String) -> String {
        Text.escaped(text) { scalar in
            scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
                && !"/._-".unicodeScalars.contains(scalar)
        }
    }
}
