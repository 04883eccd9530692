public import Model

/// The bandwidth that file transfers may use, shared by all connections that were given the same object.
///
/// Only the contents of files count. Listings and other small documents are needed to know what to transfer, and wait
/// for nothing. May be used on any thread.
public final class Bandwidth: Sendable {
    let up = BandwidthQueue()
    let down = BandwidthQueue()

    /// Creates bandwidth with limits, by default without any.
    public init(_ limits: BandwidthLimits = BandwidthLimits()) { setLimits(limits) }

    /// Sets the limits. They hold at once, for transfers under way too.
    public func setLimits(_ limits: BandwidthLimits) {
        up.setLimit(limits.up)
        down.setLimit(limits.down)
    }
}
