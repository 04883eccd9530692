package import CLarder
import Glibc
package import Model
import Synchronization

/// A library of plugins, or a module that is part of the program, for a host without threads, which makes the calls on
/// the caller's thread.
package struct ScriptedLibrary {
    private let library: PluginLibrary
    /// The record of the calls, which all instances of the library's plugins share. It is never freed.
    private let record: CallRecord

    /// Opens a library where it lies, so that a debugger finds its source. Runs the library's own code. Blocks.
    /// - Parameters:
    ///   - path: The library's path.
    ///   - board: The file for the call that is under way; nil if nobody reads it.
    /// - Throws: The reason why the library cannot be used.
    package init(path: String, board: CallBoard? = nil) throws(NotStarted) {
        // The loader looks for a name without a slash elsewhere.
        let image = LibraryImage(inPlace: path.utf8.contains(UInt8(ascii: "/")) ? path : "./\(path)")
        library = try NotStarted.of { () throws(Refusal) in try PluginLibrary.open(image) }
        record =
            board?.record(of: PluginID(""), in: path) ?? CallRecord(plugin: PluginID(""), library: path)
    }

    /// Takes a module of the program.
    /// - Parameter entry: The module's entry function.
    /// - Throws: The reason why the module cannot be used.
    package init(entry: larder_plugin_entry) throws(NotStarted) {
        library = try NotStarted.of { () throws(Refusal) in
            try PluginLibrary.describing(entry, LibraryImage(inPlace: ""))
        }
        record = CallRecord(plugin: PluginID(""), library: "")
    }

    /// The ids of the library's plugins.
    package var plugins: [PluginID] { library.plugins.map(\.id) }

    /// The services that a plugin requires, and those that it uses if it gets them.
    package func services(of id: PluginID) -> (required: [String], wanted: [String]) {
        guard let plugin = library.plugins.first(where: { $0.id == id }) else { return ([], []) }
        return (plugin.required, plugin.wanted)
    }

    /// The module's table, as far as both sides know it.
    package var module: larder_module { library.module }

    /// Creates and starts a plugin.
    /// - Parameters:
    ///   - settings: The settings, a JSON object.
    ///   - withheld: The services that the plugin does not get.
    ///   - grants: What the plugin may do beyond its services.
    ///   - account: The account for which the plugin works, with a script.
    ///   - asksAnyway: Whether the plugin is asked to start though it does not get a service that it requires.
    /// - Throws: ``NotStarted`` if the plugin does not start.
    package func start(
        _ id: PluginID, settings: String, withheld: Set<String>, grants: Set<PluginSettings.Grant>,
        for account: AccountEnvironment, asksAnyway: Bool = false
    ) throws(NotStarted) -> PluginInstance {
        try NotStarted.of { () throws(Refusal) in
            let description = try library.description(of: id)
            if !asksAnyway { try description.checkServices(withheld: withheld) }
            let instance = try PluginInstance(
                description, in: library, settings: settings, withheld: withheld, grants: grants, thread: nil,
                account: account, record: record)
            try instance.start()
            return instance
        }
    }

    /// The reason why a library cannot be used or a plugin was not started.
    package struct NotStarted: Error {
        /// The reason, as a sentence.
        package var reason: String
        /// The status for the reason. If a call failed, its own status says more.
        package var status: larder_status

        fileprivate static func of<Result>(_ body: () throws(Refusal) -> Result) throws(NotStarted) -> Result {
            do throws(Refusal) { return try body() } catch {
                let status =
                    switch error {
                    case .notConfigured: LARDER_NOT_FOUND
                    case .service, .withheld: LARDER_UNSUPPORTED
                    default: LARDER_INVALID_ARGUMENT
                    }
                throw NotStarted(reason: error.reason, status: status)
            }
        }
    }
}

extension PluginInstance {
    /// Runs a body with the processor's calls on the calling thread. No other call may be under way.
    /// - Returns: The body's result; nil if the plugin has no processor.
    package func withProcessorHere<Result>(_ body: (ProcessorCalls) throws -> Result) rethrows -> Result? {
        guard let processor, let kind else { return nil }
        return try body(ProcessorCalls(instance: self, processor: processor, kind: kind, context: context))
    }

    /// Runs a body with the calls of one of the plugin's loops on the calling thread. No other call may be under way.
    /// - Returns: The body's result; nil if the plugin has no event loop.
    package func withLoopHere<Result>(_ loop: LoopID, _ body: (LoopCalls) throws -> Result) rethrows -> Result? {
        guard let eventLoop else { return nil }
        return try body(LoopCalls(instance: self, table: eventLoop, context: context, loop: loop))
    }

    /// Grants the plugin something more. No call may be under way.
    package func grantHere(_ grant: PluginSettings.Grant) { context.grant(grant) }

    /// Stops and destroys the plugin on the calling thread. No call may be under way.
    package func stopHere() { stop() }

    /// The schema of the plugin's settings, a JSON object; nil if the plugin has no settings.
    package var settingsSchema: JSONValue? { schema == .object([]) ? nil : schema }

    /// Has every call end that asks whether it should, from now on.
    package func askToEnd() { context.isCancelled.store(true, ordering: .relaxed) }
}
