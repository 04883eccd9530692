import CLinux
import Glibc

/// A thread of the system, which ends when its body returns.
public struct SystemThread: Sendable {
    /// Starts a thread.
    /// - Parameters:
    ///   - name: The name in debuggers and `ps`, cut to 15 bytes.
    ///   - stackSize: The size of the stack in bytes, or nil for the system's default.
    ///   - body: The work of the thread. It may block.
    /// - Throws: ``ThreadError`` if the system cannot create a thread.
    public init(
        name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(ThreadError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var handle = pthread_t()
        let argument = Unmanaged.passRetained(Body(name: name, run: body)).toOpaque()
        let code = pthread_create(
            &handle, &attributes,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                linux_set_thread_name(pthread_self(), body.name)
                body.run()
                return nil
            }, argument)
        guard code == 0 else {
            Unmanaged<Body>.fromOpaque(argument).release()
            throw ThreadError(code: code)
        }
    }

    /// The number of the thread that the caller runs on, which no other living thread has.
    static var current: UInt { UInt(pthread_self()) }
}

/// The failure to create a thread.
public struct ThreadError: Error, CustomStringConvertible {
    /// The error code, as in `errno`.
    public var code: Int32

    /// - Parameter code: The error code, as in `errno`.
    public init(code: Int32) { self.code = code }

    /// The failure in words.
    public var description: String { "no thread can be created: \(String(cString: strerror(code)))" }
}

private final class Body: Sendable {
    /// The name, with a zero at the end.
    let name: [CChar]
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name.utf8.prefix(15).map { CChar(bitPattern: $0) } + [0]
        self.run = run
    }
}
