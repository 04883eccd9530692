import Model

/// The time that the host waits between the end of one scan and the beginning of the next.
package enum PollInterval {
    /// The interval if neither the config nor the server names one.
    package static let standard: Duration = .seconds(10)
    /// The shortest interval that the config can set.
    package static let shortest: Duration = .seconds(1)
    /// The threshold for the server's value. A value up to this is the default of old server versions, not a wish.
    package static let leastWish: Duration = .seconds(5)

    /// Returns the interval to use.
    /// - Parameters:
    ///   - configured: The interval in the config, if there is one.
    ///   - wish: The interval in the server's capabilities, if there is one.
    package static func next(configured: Duration?, serverWish wish: Duration?) -> Duration {
        if let configured { return max(configured, shortest) }
        if let wish, wish > leastWish { return wish }
        return standard
    }
}
