import CTLS
import Synchronization

/// The port on 127.0.0.1 at which a server without TLS can be asked over TLS.
final class TLSRelay: Sendable {
    /// A server cannot be asked over TLS: a file cannot be used, or the port is another's.
    struct StartError: Error {
        let certificate: String
        let port: Int
    }

    let port: Int
    /// The relay in C, until it is stopped. Its functions may be called from any thread.
    private let relay: Mutex<UInt?>

    /// - Parameters:
    ///   - server: The server's port.
    ///   - certificate: The path of a PEM file.
    ///   - key: The path of a PEM file.
    ///   - port: The port; 0 lets the system choose.
    init(to server: Int, certificate: String, key: String, port: Int) throws(StartError) {
        var chosen = UInt16(port)
        guard let started = tls_relay_start(certificate, key, UInt16(server), &chosen) else {
            throw StartError(certificate: certificate, port: port)
        }
        relay = Mutex(UInt(bitPattern: started))
        self.port = Int(chosen)
    }

    /// Closes all connections.
    func stop() {
        relay.withLock { relay in
            if let relay { tls_relay_stop(OpaquePointer(bitPattern: relay)) }
            relay = nil
        }
    }
}
