import Model

/// How long the host waits from the end of one scan to the beginning of the next.
package enum PollInterval {
    package static let standard: Duration = .seconds(10)
    package static let shortest: Duration = .seconds(1)
    /// A server's wish up to this is the default of old versions, not a wish.
    package static let leastWish: Duration = .seconds(5)

    /// - Parameters:
    ///   - configured: what the config says, if it does.
    ///   - wish: what the server's capabilities say, if they do.
    package static func next(configured: Duration?, serverWish wish: Duration?) -> Duration {
        if let configured { return max(configured, shortest) }
        if let wish, wish > leastWish { return wish }
        return standard
    }
}
