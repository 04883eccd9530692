extension FixedWidthInteger {
    /// Returns the sum, or the nearest representable number on overflow. A sparse file may have any size, so sums of
    /// sizes may overflow.
    func adding(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
