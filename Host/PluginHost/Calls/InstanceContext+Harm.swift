import CLinux

/// The harm that a plugin's calls do to the process, as far as the host can undo it.
struct Harm {
    private let found: UInt32
    private let signals: String

    /// Compares what the process does with signals, its timers and its descriptors, and puts back what was changed. Ends
    /// the process if the calling thread's last call closed the host's descriptors.
    init() {
        (found, signals) = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 160) { names in
            let found = names.withMemoryRebound(to: CChar.self) { linux_find_harm($0.baseAddress, $0.count) }
            return (found, found == 0 ? "" : String(decoding: names.prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    /// What was done, each as the end of a sentence that begins with the call.
    var sentences: [String] {
        var sentences: [String] = []
        if found & UInt32(LINUX_HARM_SIGNALS) != 0 {
            sentences.append("changed what the host does at \(signals); it was put back")
        }
        if found & UInt32(LINUX_HARM_TIMER) != 0 {
            sentences.append("left a timer whose signal would end the host; it was stopped")
        } else if found & UInt32(LINUX_HARM_ALARM) != 0 {
            sentences.append("was under way or had just returned when the signal of a timer came")
        }
        return sentences
    }
}

extension InstanceContext {
    /// Notes the harm that the last calls did to the process. Must be called on the plugin's thread.
    /// - Parameter count: The number of calls that may have done it.
    func noteHarm(ofCalls count: Int) {
        let call = record.lastCallText
        for sentence in Harm().sentences {
            log.note(.harm, count > 1 ? "\(call) or a call before it \(sentence)" : "\(call) \(sentence)")
        }
        if record.takeForks() {
            log.note(.harm, "\(call) forked the host, and the copy came back; the copy was ended")
        }
    }
}
