import CLinux
public import Model

/// What a call is about, for who names it. The text is borrowed for the call.
struct CallSubject {
    var kind: UInt32
    var text: UnsafeBufferPointer<UInt8>

    static var nothing: CallSubject {
        CallSubject(kind: UInt32(LINUX_CALL_ABOUT_NOTHING), text: UnsafeBufferPointer(start: nil, count: 0))
    }

    /// - Parameter path: of the item.
    static func item(_ path: UnsafeBufferPointer<UInt8>) -> CallSubject {
        CallSubject(kind: UInt32(LINUX_CALL_ABOUT_ITEM), text: path)
    }

    static func loop(_ id: UnsafeBufferPointer<UInt8>) -> CallSubject {
        CallSubject(kind: UInt32(LINUX_CALL_ABOUT_LOOP), text: id)
    }
}

/// The call that is under way into an instance, written down where a crash leaves it: plain stores, since there is a call for every item.
///
/// Unchecked: the texts are written by the instance's thread alone, before the call; others look at them only while it goes on.
final class CallRecord: @unchecked Sendable {
    typealias Call = linux_call

    private let call: UnsafeMutablePointer<linux_call>
    /// What the call lies in; nil: memory of its own, which is never freed.
    private let board: CallBoard?
    /// The name that was written last. The thread's own.
    private var name: UnsafePointer<UInt8>?

    /// - Parameter call: in the board; its memory is zero.
    init(_ call: UnsafeMutablePointer<linux_call>, on board: CallBoard?, plugin: PluginID, library: String) {
        self.call = call
        self.board = board
        call.pointee.plugin_length = put(plugin.text, at: LINUX_CALL_PLUGIN_AT, LINUX_CALL_LOOKS_AT)
        call.pointee.library_length = put(library, at: LINUX_CALL_LIBRARY_AT, LINUX_CALL_SUBJECT_AT)
        call.pointee.looks_length = put(
            LibraryMark.text(of: library) ?? "", at: LINUX_CALL_LOOKS_AT, LINUX_CALL_LIBRARY_AT)
    }

    /// For an instance of which nothing outlives the process.
    convenience init(plugin: PluginID, library: String) {
        let size = Int(LINUX_CALL_SIZE)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        self.init(memory.assumingMemoryBound(to: linux_call.self), on: nil, plugin: plugin, library: library)
    }

    /// Where nothing is written that anybody reads: of an instance that was destroyed.
    static let nowhere = CallRecord(plugin: PluginID(""), library: "")

    /// The thread that this is called on is the instance's.
    func enter() { linux_calls_are_in(call) }

    static func leave() { linux_calls_are_in(nil) }

    @inline(__always)
    func begin(_ name: StaticString, _ subject: CallSubject) {
        if name.utf8Start != self.name { write(name) }
        let count = min(subject.text.count, Int(LINUX_CALL_SIZE) - Int(LINUX_CALL_SUBJECT_AT))
        if count > 0, let start = subject.text.baseAddress {
            (UnsafeMutableRawPointer(call) + Int(LINUX_CALL_SUBJECT_AT)).copyMemory(from: start, byteCount: count)
        }
        call.pointee.subject_length = UInt32(truncatingIfNeeded: count)
        call.pointee.about = subject.kind
        linux_call_begin(call)
    }

    @inline(__always)
    func end() { linux_call_end(call) }

    /// From any thread: the call that is under way hangs, and is written down as such until it returns.
    /// - Returns: what it is; nil if none is under way.
    func markHanging(at time: Timestamp) -> CallNote? {
        guard linux_call_hangs(call, time.nanoseconds) != 0 else { return nil }
        return CallNote(reading: UnsafeRawPointer(call))
    }

    /// The call that was found to hang and still does.
    var hanging: CallNote? {
        linux_call_state(call) == UInt32(LINUX_CALL_HANGS) ? CallNote(reading: UnsafeRawPointer(call)) : nil
    }

    private func write(_ name: StaticString) {
        self.name = name.utf8Start
        call.pointee.name_length = put(
            UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), at: LINUX_CALL_NAME_AT,
            LINUX_CALL_PLUGIN_AT)
    }

    private func put(_ text: String, at place: some BinaryInteger, _ end: some BinaryInteger) -> UInt32 {
        var text = text
        return text.withUTF8 { put($0, at: place, end) }
    }

    private func put(
        _ text: UnsafeBufferPointer<UInt8>, at place: some BinaryInteger, _ end: some BinaryInteger
    ) -> UInt32 {
        let count = min(text.count, Int(end) - Int(place))
        guard count > 0, let start = text.baseAddress else { return 0 }
        (UnsafeMutableRawPointer(call) + Int(place)).copyMemory(from: start, byteCount: count)
        return UInt32(count)
    }
}

/// A call as it was written down.
public struct CallNote: Codable, Hashable, Sendable {
    /// How a call ended, as far as it is known.
    public enum End: String, Codable, Sendable {
        /// The process ended meanwhile, by no doing of the plugin's that is known of.
        case underWay
        case crashed, exited, hung
    }

    public var plugin: String
    /// Absolute.
    public var library: String
    /// By which the library's file is known again.
    public var mark: String
    public var call: String
    /// The item's path, or the loop's id; nil: it is about neither.
    public var subject: String?
    public var isAboutLoop: Bool
    public var end: End
    public var signal: Int32
    public var nanoseconds: Int64

    /// The names under which the database keeps them.
    private enum CodingKeys: String, CodingKey {
        case plugin, library, call, subject, isAboutLoop, end, signal, nanoseconds
        case mark = "looks"
    }

    /// Nil if no call was under way. What a crashed process wrote may be anything.
    init?(reading call: UnsafeRawPointer) {
        let head = call.load(as: linux_call.self)
        switch head.state {
        case UInt32(LINUX_CALL_UNDER_WAY): end = .underWay
        case UInt32(LINUX_CALL_HANGS): end = .hung
        case UInt32(LINUX_CALL_EXITED): end = .exited
        case UInt32(LINUX_CALL_CRASHED): end = .crashed
        default: return nil
        }
        func text(_ length: UInt32, at place: some BinaryInteger, _ end: some BinaryInteger) -> String {
            let count = min(Int(length), Int(end) - Int(place))
            return String(decoding: UnsafeRawBufferPointer(start: call + Int(place), count: count), as: UTF8.self)
        }
        plugin = text(head.plugin_length, at: LINUX_CALL_PLUGIN_AT, LINUX_CALL_LOOKS_AT)
        library = text(head.library_length, at: LINUX_CALL_LIBRARY_AT, LINUX_CALL_SUBJECT_AT)
        mark = text(head.looks_length, at: LINUX_CALL_LOOKS_AT, LINUX_CALL_LIBRARY_AT)
        self.call = text(head.name_length, at: LINUX_CALL_NAME_AT, LINUX_CALL_PLUGIN_AT)
        let isAboutAnything = head.about != UInt32(LINUX_CALL_ABOUT_NOTHING)
        subject = isAboutAnything ? text(head.subject_length, at: LINUX_CALL_SUBJECT_AT, LINUX_CALL_SIZE) : nil
        isAboutLoop = head.about == UInt32(LINUX_CALL_ABOUT_LOOP)
        (signal, nanoseconds) = (head.signal, head.time)
    }

    public var time: Timestamp { Timestamp(nanoseconds: nanoseconds) }

    /// Such as `performAction of /a`.
    public var callText: String {
        guard let subject else { return call }
        return isAboutLoop ? "\(call) of the loop \(subject)" : "\(call) of \(subject)"
    }

    /// Such as `it crashed (SIGSEGV) in performAction of /a`.
    public var sentence: String {
        switch end {
        case .underWay: "\(callText) was under way"
        case .crashed: "it crashed (\(String(cString: linux_signal_name(signal)))) in \(callText)"
        case .exited: "it ended the host with exit() in \(callText)"
        case .hung: "\(callText) did not return"
        }
    }
}
