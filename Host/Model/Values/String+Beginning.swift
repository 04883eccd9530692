extension String {
    /// Returns the beginning of the text that takes at most a number of bytes in UTF-8. It ends with a whole Unicode
    /// scalar.
    public func beginning(ofBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: max(0, limit))
        while end > startIndex, utf8[end] & 0xc0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
