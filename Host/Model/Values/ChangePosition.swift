/// A point in the course of an account's changes.
///
/// Anchors begin anew when a vault is restored or begins anew, and then old numbers come again. The epoch tells the
/// courses apart.
///
///     let position = ChangePosition("81604378624:1042")
public struct ChangePosition: Hashable, Sendable, LosslessStringConvertible {
    /// The number of the course.
    public var epoch: Int64
    /// The number of the last transaction that changed items.
    public var anchor: Int64

    /// Creates a position.
    public init(epoch: Int64, anchor: Int64) {
        self.epoch = epoch
        self.anchor = anchor
    }

    /// Creates a position from the form `EPOCH:ANCHOR`, two decimal numbers that are not negative; nil if the text has
    /// another form.
    public init?(_ description: String) {
        let parts = description.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (48...57).contains($0) } }),
            let epoch = Int64(Substring(parts[0])), let anchor = Int64(Substring(parts[1]))
        else { return nil }
        self.init(epoch: epoch, anchor: anchor)
    }

    /// The form `EPOCH:ANCHOR`.
    public var description: String { "\(epoch):\(anchor)" }
}
