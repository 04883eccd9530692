import Glibc

/// A table of the meanings of element names. The names are kept by their length, so that an element costs one or two
/// comparisons.
struct XMLNameTable<Meaning: Sendable>: Sendable {
    private var byLength: [[(name: ContiguousArray<CChar>, meaning: Meaning)]]

    /// Creates a table.
    /// - Parameter names: The names, in the form that `XMLHandler.start` gets, and their meanings.
    init(_ names: [(String, Meaning)]) {
        let longest = names.map(\.0.utf8.count).max() ?? 0
        byLength = Array(repeating: [], count: longest + 1)
        for (name, meaning) in names { byLength[name.utf8.count].append((name.utf8CString, meaning)) }
    }

    subscript(_ name: UnsafePointer<CChar>) -> Meaning? {
        let length = strlen(name)
        guard length < byLength.count else { return nil }
        for candidate in byLength[length] {
            let isSame = candidate.name.withUnsafeBufferPointer { text in
                text.baseAddress.map { strcmp($0, name) == 0 } ?? false
            }
            if isSame { return candidate.meaning }
        }
        return nil
    }
}
