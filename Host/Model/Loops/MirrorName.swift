/// The name of a calendar's folder or of an object's file, made from a server's text. The name is a single path
/// component, never hidden and never too long.
package struct MirrorName: ByteText {
    package let text: String
    /// Wraps a name that is already valid.
    package init(_ text: String) { self.text = text }

    /// The length limit in bytes. It is below the limit of file systems, so that a distinguishing suffix fits.
    static let longest = 200
    /// The length limit in bytes for file systems that accept less.
    static let shortest = 64

    /// Returns the name of a calendar's folder.
    /// - Parameters:
    ///   - title: The calendar's name. If it is nil or empty, the end of the calendar's path is used.
    ///   - key: The calendar's path on the server.
    package static func folder(title: String?, key: RecordKey) -> MirrorName {
        let title = title.flatMap { $0.isEmpty ? nil : $0 } ?? lastSegment(of: key)
        return MirrorName(cut(plain(title.isEmpty ? "calendar" : title), to: longest))
    }

    /// Returns the name of an object's file, which ends in `.ics`.
    /// - Parameter key: The object's path on the server.
    package static func file(key: RecordKey) -> MirrorName {
        var stem = lastSegment(of: key)
        if stem.utf8.suffix(4).map({ $0 | 0x20 }).elementsEqual(".ics".utf8) {
            stem = String(decoding: stem.utf8.dropLast(4), as: UTF8.self)
        }
        return MirrorName(cut(plain(stem.isEmpty ? "object" : stem), to: longest) + ending)
    }

    /// The name for a file system that accepts less.
    package var shortened: MirrorName {
        guard let stem else { return MirrorName(Self.cut(text, to: Self.shortest)) }
        return MirrorName(Self.cut(stem, to: Self.shortest) + Self.ending)
    }

    private static let ending = ".ics"

    /// The name without `.ics`, or nil if the name does not end in `.ics`.
    private var stem: String? {
        guard text.utf8.suffix(Self.ending.utf8.count).elementsEqual(Self.ending.utf8) else { return nil }
        return String(decoding: text.utf8.dropLast(Self.ending.utf8.count), as: UTF8.self)
    }

    /// Returns the name with a distinguishing mark, such as ` (2)`, in front of `.ics`.
    package func distinguished(by mark: String) -> MirrorName {
        stem.map { MirrorName("\($0) (\(mark))\(Self.ending)") } ?? MirrorName("\(text) (\(mark))")
    }

    /// Returns the name for a file that a program made from the file with this name.
    /// - Parameter number: The number of the file in the series of such files.
    package func changedHere(_ number: Int) -> MirrorName {
        distinguished(by: number == 1 ? "changed here" : "changed here \(number)")
    }

    /// Returns the last segment of a path that is not empty. Decodes the segment, unless the result is not text.
    private static func lastSegment(of key: RecordKey) -> String {
        let path = key.text.utf8
        let end = path.lastIndex { $0 != UInt8(ascii: "/") }.map(path.index(after:)) ?? path.startIndex
        let start = path[..<end].lastIndex(of: UInt8(ascii: "/")).map(path.index(after:)) ?? path.startIndex
        let segment = path[start..<end]
        guard segment.contains(UInt8(ascii: "%")) else { return String(decoding: segment, as: UTF8.self) }
        var decoded: [UInt8] = []
        var rest = segment
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                decoded.append(UInt8(digits[0] * 16 + digits[1]))
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self) ?? String(decoding: segment, as: UTF8.self)
    }

    /// Replaces the characters that no name may contain, and a dot at the beginning, which would hide the file.
    private static func plain(_ text: String) -> String {
        func isBad(_ scalar: UnicodeScalar) -> Bool {
            scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || scalar == "/"
        }
        var result = text
        if text.unicodeScalars.contains(where: isBad) {
            result = ""
            for scalar in text.unicodeScalars { result.unicodeScalars.append(isBad(scalar) ? "_" : scalar) }
        }
        return result.utf8.first == UInt8(ascii: ".")
            ? "_" + String(decoding: result.utf8.dropFirst(), as: UTF8.self) : result
    }

    /// Returns the beginning of a text that takes no more than a number of bytes, in whole characters. If the first
    /// character alone takes more, returns the beginning of that character.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var (whole, count) = ("", 0)
        for character in text {
            count += String(character).utf8.count
            guard count <= limit else { break }
            whole.append(character)
        }
        if !whole.isEmpty { return whole }
        for scalar in text.unicodeScalars {
            guard whole.utf8.count + String(scalar).utf8.count <= limit else { break }
            whole.unicodeScalars.append(scalar)
        }
        return whole
    }
}
