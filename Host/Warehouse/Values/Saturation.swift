extension FixedWidthInteger {
    /// The sum; the nearest number where there is none. A sparse file may say that it is as large as any number.
    func adding(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
