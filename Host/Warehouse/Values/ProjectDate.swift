import Glibc

/// A moment: nanoseconds since 1970-01-01T00:00:00Z.
public struct ProjectDate: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    init(_ spec: timespec) {
        nanoseconds = Int64(spec.tv_sec) &* 1_000_000_000 &+ Int64(spec.tv_nsec)
    }

    /// The system's wall clock.
    public static func now() -> ProjectDate {
        var spec = timespec()
        clock_gettime(CLOCK_REALTIME, &spec)
        return ProjectDate(spec)
    }

    public static func < (a: ProjectDate, b: ProjectDate) -> Bool { a.nanoseconds < b.nanoseconds }
}
