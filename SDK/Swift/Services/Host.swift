/// The host, as one plugin sees it for one account. Services are asked for once, in the processor's `init`.
///
/// Call it only inside a call of the host's, and on that call's thread.
///
/// Besides what its comment says, each method of a service may throw ``Status/wrongThread`` (outside a call of the host's, or
/// on another thread than that call's), ``Status/wrongState`` (in a call in which the service is not there), and
/// ``Status/internal`` (a mistake of the host's).
public struct Host {
    let pointer: UnsafePointer<larder_host>

    init(_ pointer: UnsafePointer<larder_host>) { self.pointer = pointer }

    /// The table of a service; nil if it is withheld.
    func table<Table>(_ service: Service, as _: Table.Type) -> UnsafePointer<Table>? {
        var loan = Loan()
        return pointer.pointee.extension(pointer, loan.text(service.name))?.assumingMemoryBound(to: Table.self)
    }

    /// Tells the host why the call under way fails.
    func report(_ error: PluginError) -> larder_status {
        var loan = Loan()
        pointer.pointee.fail(pointer, error.status.rawValue, loan.text(error.message))
        return error.status.rawValue
    }

    /// The service, or an error that names it: for one that the plugin cannot work without.
    /// - Throws: ``Status/unsupported`` if the service is withheld.
    public func require<Granted>(_ granted: Granted?, _ service: Service) throws(PluginError) -> Granted {
        guard let granted else { throw PluginError(.unsupported, "the service \(service.name) is withheld") }
        return granted
    }
}
