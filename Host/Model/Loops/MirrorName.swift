/// The name of a calendar's folder or of an object's file, made from what a server says: one name of a path, never hidden, never too
/// long.
package struct MirrorName: ByteText {
    package let text: String
    package init(_ text: String) { self.text = text }

    /// Below what file systems take, with room for what tells two of one name apart.
    static let longest = 200
    /// For file systems that take less.
    static let shortest = 64

    /// The folder of a calendar.
    /// - Parameters:
    ///   - title: what the calendar is called; nil or empty: the end of its path is taken.
    ///   - key: its path on the server.
    package static func folder(title: String?, key: RecordKey) -> MirrorName {
        let title = title.flatMap { $0.isEmpty ? nil : $0 } ?? lastSegment(of: key)
        return MirrorName(cut(plain(title.isEmpty ? "calendar" : title), to: longest))
    }

    /// The file of an object, which ends in `.ics`.
    /// - Parameter key: its path on the server.
    package static func file(key: RecordKey) -> MirrorName {
        var stem = lastSegment(of: key)
        if stem.utf8.suffix(4).map({ $0 | 0x20 }).elementsEqual(".ics".utf8) {
            stem = String(decoding: stem.utf8.dropLast(4), as: UTF8.self)
        }
        return MirrorName(cut(plain(stem.isEmpty ? "object" : stem), to: longest) + ending)
    }

    /// The name for a file system that takes less.
    package var shortened: MirrorName {
        guard let stem else { return MirrorName(Self.cut(text, to: Self.shortest)) }
        return MirrorName(Self.cut(stem, to: Self.shortest) + Self.ending)
    }

    private static let ending = ".ics"

    /// What stands before `.ics`; nil: it does not end so.
    private var stem: String? {
        guard text.utf8.suffix(Self.ending.utf8.count).elementsEqual(Self.ending.utf8) else { return nil }
        return String(decoding: text.utf8.dropLast(Self.ending.utf8.count), as: UTF8.self)
    }

    /// The name with what tells it apart from others, such as ` (2)`, in front of `.ics`.
    package func distinguished(by mark: String) -> MirrorName {
        stem.map { MirrorName("\($0) (\(mark))\(Self.ending)") } ?? MirrorName("\(text) (\(mark))")
    }

    /// The name of what a program made of the file with this name: that which is so many in a row.
    package func changedHere(_ number: Int) -> MirrorName {
        distinguished(by: number == 1 ? "changed here" : "changed here \(number)")
    }

    /// The last segment of a path that is not empty, decoded unless that gives no text.
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

    /// Without what no name has, or what hides one.
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

    /// The beginning that takes no more than so many bytes, in whole characters; of a first character that takes more, its beginning.
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
