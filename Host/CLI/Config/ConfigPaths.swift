/// The conversion of the config's paths to absolute paths.
struct ConfigPaths {
    /// The absolute path of the folder that the config file is in.
    let folder: String
    let environment: [String: String]

    /// Returns the absolute path that a text stands for.
    /// - Parameter text: a path, in which `~` at the beginning stands for the home folder and `${VARIABLE}` for a
    ///   variable's value; a relative path begins at the config's folder.
    /// - Throws: the problem of the text, such as a variable that is not set.
    func absolute(_ text: String) throws(Wrong) -> String {
        guard !text.isEmpty else { throw Wrong("the path is empty") }
        var path = try expandVariables(text)
        guard !path.utf8.contains(0) else { throw Wrong("a path must not contain a NUL character") }
        if path == "~" || path.hasPrefix("~/") {
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw Wrong("`~` stands for the variable HOME, which is not set")
            }
            path = home + path.dropFirst()
        } else if path.hasPrefix("~") {
            throw Wrong("`\(path)`: `~` stands only for your own home folder; write the whole path")
        }
        return Self.tidied(path.hasPrefix("/") ? path : folder + "/" + path)
    }

    private func expandVariables(_ text: String) throws(Wrong) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstRange(of: "${") {
            result += rest[..<open.lowerBound]
            guard let close = rest[open.upperBound...].firstIndex(of: "}") else {
                throw Wrong("`${` has no closing `}`")
            }
            let name = String(rest[open.upperBound..<close])
            guard let value = environment[name] else { throw Wrong("the variable `\(name)` is not set") }
            result += value
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    /// Returns the path without `.` and doubled slashes. `..` stays, because its meaning depends on symbolic links.
    static func tidied(_ path: String) -> String {
        "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }
}
