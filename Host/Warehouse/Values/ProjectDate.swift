import Glibc

/// A moment, in nanoseconds since 1970-01-01T00:00:00Z.
///
/// The range is 1677 to 2262. A file system's time outside this range becomes the first or the last moment.
public struct ProjectDate: Hashable, Comparable, Sendable {
    /// The nanoseconds since 1970-01-01T00:00:00Z; negative before that.
    public var nanoseconds: Int64

    /// Creates a date from nanoseconds since 1970-01-01T00:00:00Z.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    init(_ spec: timespec) {
        let (whole, overflow) = Int64(spec.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        nanoseconds = overflow ? (spec.tv_sec < 0 ? .min : .max) : whole.adding(Int64(spec.tv_nsec))
    }

    /// Returns the time of the system's wall clock.
    public static func now() -> ProjectDate {
        var spec = timespec()
        clock_gettime(CLOCK_REALTIME, &spec)
        return ProjectDate(spec)
    }

    public static func < (a: ProjectDate, b: ProjectDate) -> Bool { a.nanoseconds < b.nanoseconds }
}
