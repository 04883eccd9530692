import CLarder
import CLinux
import Glibc
import Logging
import Model
import Synchronization

/// The calls in which a plugin may use a service.
enum ServiceTag {
    /// The tag `[any]`: all calls from start to stop.
    case any
    /// The tag `[processor]`; and those services of this tag that change something, which `explain` may not use.
    case processor, processorWriting
    /// The tag `[loop]`; and those services of this tag that change something, which `poll` and `on_error` may not use.
    case loop, loopWriting
    /// The tags `[processor] [loop]`; and those services of these tags that change something.
    case work, workWriting
    /// All calls, including `create`: `fail`.
    case always

    func allows(_ phase: InstanceContext.Phase) -> Bool {
        switch (self, phase) {
        case (_, .none): false
        case (.always, _): true
        case (_, .create): false
        case (.any, _): true
        case (.processor, .processor), (.work, .processor): true
        case (.processor, .processorReading), (.work, .processorReading): true
        case (.processorWriting, .processor), (.workWriting, .processor): true
        case (.loop, .loop), (.loop, .loopReading), (.work, .loop), (.work, .loopReading): true
        case (.loopWriting, .loop), (.workWriting, .loop): true
        default: false
        }
    }
}

/// Answers a plugin's call into the host, if the call comes from the right thread and during a call that may use the
/// service.
func serve(
    _ context: InstanceContext, _ name: StaticString, during tag: ServiceTag,
    _ body: (InstanceContext) throws(ServiceError) -> Void
) -> larder_status {
    if linux_is_fork() != 0 { linux_leave_fork() }
    guard context.caller.load(ordering: .acquiring) == UInt(pthread_self()) else {
        let reason = "called from a thread on which no call into the plugin is under way"
        context.log.note(.wrongThread, "refused \(name): \(reason)")
        context.traceStray(name, LARDER_WRONG_THREAD, because: reason)
        context.script?.refused(name, LARDER_WRONG_THREAD)
        return LARDER_WRONG_THREAD
    }
    guard tag.allows(context.phase) else {
        context.log.note(.wrongState, "refused \(name): not allowed during \(context.callName)")
        context.trace(.refused, "\(name)", statusName(LARDER_WRONG_STATE), because: "not allowed during the call")
        context.script?.refused(name, LARDER_WRONG_STATE)
        return LARDER_WRONG_STATE
    }
    if let status = context.script?.failure(of: name) { return status }
    context.record.setInHost(true)
    defer { context.record.setInHost(false) }
    do throws(ServiceError) {
        try body(context)
        return LARDER_OK
    } catch {
        context.refusal = (name, error)
        if error.isUnknown, context.isNewer {
            context.log.write(
                .debug,
                "refused \(name) during \(context.callName), as the plugin is newer than this host: \(error.message)")
            context.trace(.refused, "\(name)", statusName(LARDER_UNSUPPORTED), because: error.message)
            return LARDER_UNSUPPORTED
        }
        context.script?.refused(name, error.status)
        switch error.status {
        case LARDER_INVALID_ARGUMENT:
            context.log.note(.invalidArgument, "refused \(name) during \(context.callName): \(error.message)")
        case LARDER_LIMIT:
            context.log.note(.limit, "refused \(name) during \(context.callName): \(error.message)")
        case LARDER_IO, LARDER_INTERNAL:
            context.log.write(.error, "\(name) during \(context.callName): \(error.message)")
        case LARDER_DENIED where !error.isTold:
            context.log.write(.warning, "refused \(name) during \(context.callName): \(error.message)")
        case LARDER_DENIED: break
        case LARDER_NOT_FOUND where error.isNoted:
            context.log.write(.warning, "refused \(name) during \(context.callName): \(error.message)")
        // Other statuses are answers and not errors.
        default: return error.status
        }
        context.trace(.refused, "\(name)", statusName(error.status), because: error.message)
        return error.status
    }
}

func serve(
    _ host: UnsafePointer<larder_host>, _ name: StaticString, during tag: ServiceTag,
    _ body: (InstanceContext) throws(ServiceError) -> Void
) -> larder_status {
    guard let address = host.pointee.context else { return LARDER_INVALID_ARGUMENT }
    return serve(Unmanaged<InstanceContext>.fromOpaque(address).takeUnretainedValue(), name, during: tag, body)
}

/// Returns the table with which an instance is created.
func hostTable(context: UnsafeMutableRawPointer) -> larder_host {
    larder_host(
        struct_size: UInt32(MemoryLayout<larder_host>.size), abi_minor: UInt32(LARDER_ABI_MINOR), context: context,
        extension: { host, name in
            var found: UnsafeRawPointer?
            _ = serve(host, "host.extension", during: .any) { context throws(ServiceError) in
                guard let name = name.text else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the name is not UTF-8") }
                if context.granted.contains(name) {
                    found = hostServices[name]
                } else if hostServices[name] != nil {
                    context.noteUndeclared(name)
                }
            }
            return found
        },
        fail: { host, status, message in
            _ = serve(host, "host.fail", during: .always) { context throws(ServiceError) in
                guard let text = message.text else {
                    throw ServiceError(LARDER_INVALID_ARGUMENT, "the message is not UTF-8")
                }
                let said = text.beginning(ofBytes: 1_024)
                context.failure = said
                context.script?.failed(status, because: text)
                context.trace(.message, "fail", said)
            }
        })
}

/// The services by name. The tables are made once and never change.
nonisolated(unsafe) let hostServices: [String: UnsafeRawPointer] = [
    LARDER_EXT_LOG: stable(logTable), LARDER_EXT_CONFIG: stable(configTable), LARDER_EXT_CLOCK: stable(clockTable),
    LARDER_EXT_ITEMS: stable(itemsTable), LARDER_EXT_ACTIONS: stable(actionsTable),
    LARDER_EXT_POLICIES: stable(policiesTable), LARDER_EXT_KV: stable(kvTable), LARDER_EXT_CANCEL: stable(cancelTable),
    LARDER_EXT_USAGE: stable(usageTable), LARDER_EXT_RECORDS: stable(recordsTable),
    LARDER_EXT_PROJECTS: stable(projectsTable),
    LARDER_EXT_HTTP: stable(httpTable), LARDER_EXT_DAV: stable(davTable), LARDER_EXT_DISCOVER: stable(discoverTable),
]

/// The names of the services.
public enum HostServices {
    /// The names of all services that plugins may be given, sorted.
    public static let names = hostServices.keys.sorted()
}

private func stable<Table>(_ table: Table) -> UnsafeRawPointer {
    let address = UnsafeMutablePointer<Table>.allocate(capacity: 1)
    address.initialize(to: table)
    return UnsafeRawPointer(address)
}

func size<Table>(of table: Table.Type) -> UInt32 { UInt32(MemoryLayout<Table>.size) }

extension larder_str {
    /// Returns the text of an argument.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the text is missing or not UTF-8.
    func required(_ what: StaticString) throws(ServiceError) -> String {
        guard ptr != nil else { throw ServiceError(LARDER_INVALID_ARGUMENT, "\(what) is missing") }
        guard let text else { throw ServiceError(LARDER_INVALID_ARGUMENT, "\(what) is not UTF-8") }
        return text
    }

    /// Returns the text of an argument; nil if it is absent.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the text is not UTF-8.
    func optional(_ what: StaticString) throws(ServiceError) -> String? { isAbsent ? nil : try required(what) }
}
