/// A class of files by their size. Transfers of one class do not keep those of the other class waiting.
public enum SizeClass: Sendable, CaseIterable {
    case small, large

    /// The largest size of a small file in bytes.
    public static let largestSmall: Int64 = 1 << 20

    /// Creates the class of a file.
    /// - Parameter size: The size of the whole file in bytes; nil if it is unknown.
    public init(of size: Int64?) {
        if let size, size <= Self.largestSmall { self = .small } else { self = .large }
    }

    /// Returns how many of a number of transfers may be of large files. The others are left to small files, which would
    /// otherwise wait until a large one is done. Small files keep large ones waiting for a short time only.
    public static func mostLarge(of transfers: Int) -> Int { max(1, transfers - max(1, transfers / 3)) }
}
