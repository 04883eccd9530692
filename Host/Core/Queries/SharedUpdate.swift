import Synchronization

/// An update that several readers of a query are told. It is read once, and its text is made once.
public final class SharedUpdate: Sendable {
    private let update = Mutex<LiveQueryUpdate?>(nil)
    private let bytes = Mutex<[UInt8]?>(nil)

    /// Returns the update; nil if it was not read, or was read for a reader in another state.
    func known(in state: LiveQueryState) -> LiveQueryUpdate? {
        guard var known = update.withLock({ $0 }), known.state == state else { return nil }
        known.shared = self
        return known
    }

    /// Notes the update as it was read for one reader, and returns it. If it was read before, for a reader in another
    /// state, nothing is shared.
    func noted(_ made: LiveQueryUpdate) -> LiveQueryUpdate {
        update.withLock { known in
            guard known == nil else { return made }
            known = made
            var made = made
            made.shared = self
            return made
        }
    }

    /// Returns the update's text.
    /// - Parameter make: Makes the text, if nobody has made it.
    public func text(_ make: () -> [UInt8]) -> [UInt8] {
        bytes.withLock { bytes in
            let text = bytes ?? make()
            bytes = text
            return text
        }
    }
}
