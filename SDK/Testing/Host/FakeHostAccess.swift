package import CLarder
package import Model
package import PluginHost

/// What a validator of plugins sets and reads beyond the functions of the header.
package struct FakeHostAccess {
    private let host: FakeHost

    /// - Parameter fake: A fake host, which must live as long as this value.
    package init(_ fake: OpaquePointer) {
        host = Unmanaged<FakeHost>.fromOpaque(UnsafeRawPointer(fake)).takeUnretainedValue()
    }

    /// Opens a library, as `larder_fake_open` does.
    /// - Parameters:
    ///   - library: The library's path.
    ///   - board: The file for the call that is under way, which another process reads if this one ends.
    /// - Returns: A fake host for `larder_fake_free`.
    package static func open(_ library: String, _ board: CallBoard) -> OpaquePointer {
        let host = FakeHost { () throws(ScriptedLibrary.NotStarted) in
            try ScriptedLibrary(path: library, board: board)
        }
        return OpaquePointer(Unmanaged.passRetained(host).toOpaque())
    }

    /// The ids of the library's plugins; none if it cannot be used.
    package var plugins: [PluginID] { host.library?.plugins ?? [] }

    /// The services that a plugin requires, and those that it uses if it gets them.
    package func services(of id: PluginID) -> (required: [String], wanted: [String]) {
        host.library?.services(of: id) ?? ([], [])
    }

    /// How items are lent to the plugin.
    package var lending: Lending {
        get { host.lending }
        nonmutating set { host.lending = newValue }
    }

    /// Whether the plugin gets the items of a run in the opposite of the host's order.
    package var isReversed: Bool {
        get { host.isReversed }
        nonmutating set { host.isReversed = newValue }
    }

    /// The functions of services that the plugin called, such as `actions.download`.
    package var called: Set<String> { host.called }

    /// The number of calls into the plugin that returned.
    package var returnedCalls: UInt64 { host.returnedCalls }

    /// Starts a plugin, also without a service that it requires.
    package func startAnyway(_ id: PluginID) -> larder_status { host.start(id, asksAnyway: true) }

    /// Whether the plugin that is started is a processor.
    package var isProcessor: Bool { host.instance?.kind != nil }

    /// The kind of the policies that the processor is for; nil without a processor.
    package var kind: PolicyKind? { host.instance?.kind }

    /// The loops of the plugin that is started; nil if it has none.
    package var loops: LoopOffer? { host.instance?.loops }

    /// The greatest number of the processor's actions at a time; nil: any number.
    package var maximumRecords: Int? { host.instance?.maximumRecords }

    /// The triggers that the processor wants now; none without a processor.
    package func triggers() -> TriggerMask {
        host.instance?.withProcessorHere { calls in
            calls.begin(FakeRun(host, .policiesChanged))
            defer { calls.end() }
            return calls.triggers()
        } ?? TriggerMask(rawValue: 0)
    }

    /// Sets what answers the requests that have no answer.
    /// - Parameter serve: Adds answers for a request: by its method, target and body.
    package func serve(_ serve: @escaping (_ method: String, _ target: String, _ body: String) -> Void) {
        host.server.serve = serve
    }

    /// Makes the parts of the answer that was added last come several times.
    package func repeatParts(_ rounds: Int) { host.server.change { $0.rounds = rounds } }

    /// Forgets the answers that no request has taken.
    package func forgetAnswers() { host.server.scripts = [] }

    /// The keys of the plugin's values.
    package var keys: [[UInt8]] { host.values.keys.sorted { $0.lexicographicallyPrecedes($1) } }

    /// A value of the plugin; nil if there is none.
    package func value(for key: [UInt8]) -> [UInt8]? { host.values[key] }

    /// Puts a value, as if the plugin had stored it.
    package func put(_ value: [UInt8], for key: [UInt8]) { host.values[key] = value }

    /// The longest call since this function was called last, without the time in which its thread had no processor.
    package func takeLongestCall() -> Duration {
        defer { host.longestCall = .zero }
        return host.longestCall ?? .zero
    }
}
