/// The host, as one plugin sees it for one account. Ask for services once, in the plugin's `init`.
///
/// ```swift
/// let actions = try host.require(host.actions, .actions)
/// let log = host.log
/// ```
///
/// Call the host only inside a call from the host, and on that call's thread.
///
/// Besides the statuses that its comment names, each method of a service may throw ``Status/wrongThread`` (outside of a
/// call from the host, or on another thread than that call's), ``Status/wrongState`` (in a call in which the service is
/// not available), and ``Status/internal`` (a mistake of the host's).
public struct Host {
    let pointer: UnsafePointer<larder_host>

    init(_ pointer: UnsafePointer<larder_host>) { self.pointer = pointer }

    /// Returns the table of a service, or nil if the service is withheld.
    func table<Table>(_ service: Service, as _: Table.Type) -> UnsafePointer<Table>? {
        var loan = Loan()
        return pointer.pointee.extension(pointer, loan.text(service.name))?.assumingMemoryBound(to: Table.self)
    }

    /// Tells the host why the current call fails, and returns the status.
    func report(_ error: PluginError) -> larder_status {
        var loan = Loan()
        pointer.pointee.fail(pointer, error.status.rawValue, loan.text(error.message))
        return error.status.rawValue
    }

    /// Returns the service, or throws an error that names it. Use it for a service that the plugin cannot work without.
    /// - Throws: ``Status/unsupported`` if the service is withheld.
    public func require<Granted>(_ granted: Granted?, _ service: Service) throws(PluginError) -> Granted {
        guard let granted else { throw PluginError(.unsupported, "the service \(service.name) is withheld") }
        return granted
    }
}
