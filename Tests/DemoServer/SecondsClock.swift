import DemoServer
import Synchronization
import TestServer

/// A clock in whole seconds that a test advances.
final class SecondsClock: Sendable {
    private let seconds = Mutex<Int64>(1_700_000_000)

    var now: Int64 { seconds.withLock { $0 } }

    func advance(_ count: Int64) { seconds.withLock { $0 += count } }

    /// A server's configuration with this clock.
    var configuration: TestServer.Configuration {
        var configuration = TestServer.Configuration()
        configuration.clock = { self.now }
        return configuration
    }
}
