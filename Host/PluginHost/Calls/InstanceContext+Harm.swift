import CLinux

/// The harm that a plugin's calls do to the process, as far as the host can undo it.
struct Harm {
    private let found: UInt32
    private let signals: String
    private let limits: String

    /// Compares what the process does with signals, its timers, limits and descriptors, and puts back what was changed.
    /// Ends the process if the calling thread's last call closed the host's descriptors.
    init() {
        let (harm, signals) = Self.names(linux_find_harm)
        let (limitHarm, limits) = Self.names(linux_find_limits)
        (found, self.signals, self.limits) = (harm | limitHarm, signals, limits)
    }

    private static func names(
        _ find: (UnsafeMutablePointer<CChar>?, Int) -> UInt32
    ) -> (found: UInt32, names: String) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 160) { names in
            let found = names.withMemoryRebound(to: CChar.self) { find($0.baseAddress, $0.count) }
            return (found, found == 0 ? "" : String(decoding: names.prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    private func has(_ harm: Int) -> Bool { found & UInt32(harm) != 0 }

    /// What was done, each as the end of a sentence that begins with the call.
    var sentences: [String] {
        var sentences: [String] = []
        if has(LINUX_HARM_SIGNALS) {
            sentences.append("changed what the host does at \(signals); it was put back")
        }
        if has(LINUX_HARM_TIMER) {
            sentences.append("left a timer whose signal would end the host; it was stopped")
        } else if has(LINUX_HARM_ALARM) {
            sentences.append("was under way or had just returned when the signal of a timer came")
        }
        if has(LINUX_HARM_LIMITS) {
            let rest =
                has(LINUX_HARM_LIMITS_STAY)
                ? "it cannot be put back until the host is restarted without the plugin" : "it was put back"
            sentences.append("changed the limits of the host (\(limits)); \(rest)")
        }
        return sentences
    }
}

extension PluginHost {
    /// Whether a plugin has lowered a limit of the process that cannot be put back.
    public static var hasLostLimits: Bool { linux_has_lost_limits() != 0 }
}

extension InstanceContext {
    /// Notes the harm that the last calls did to the process. Must be called on the plugin's thread.
    /// - Parameter count: The number of calls that may have done it.
    func noteHarm(ofCalls count: Int) {
        let call = record.lastCallText
        for sentence in Harm().sentences {
            log.note(.harm, count > 1 ? "\(call) or a call before it \(sentence)" : "\(call) \(sentence)")
        }
        if let forking = record.takeForks() {
            log.note(.harm, "\(forking) forked the host, and the copy came back; the copy was ended")
        }
    }
}
