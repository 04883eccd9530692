import Glibc
import Logging
import Model
import Threads

/// The control socket of a host and the task that answers on it. There is one for each process that runs the accounts.
///
/// The socket is in the folder `larder` below `$XDG_RUNTIME_DIR`. Without that variable, or if no socket can be made
/// there, it is in the folder `control` of the vault that is opened first. A socket that somebody removed is made anew;
/// see ``checkSocket()``.
actor Control {
    /// The time between two checks of the socket.
    static let checkInterval = Duration.seconds(3)

    private struct Answering {
        let respond: ControlListener.Responder
        let logger: Logger
        let clock: HostClock
    }

    private let runtimeFolder: String?
    private var answering: Answering?
    private var socket: ControlSocket?
    private var listener: ControlListener?
    private var listening: [Task<Void, Never>] = []
    private var isClosed = false
    /// The problem that the log was told, while there is no socket.
    private var told: String?

    /// - Parameter environment: the environment of the process.
    init(environment: [String: String]) {
        runtimeFolder = Self.runtimeFolder(environment)
    }

    /// Returns the folder in which hosts make their sockets, whichever vaults they have; nil if there is none.
    static func runtimeFolder(_ environment: [String: String]) -> String? {
        environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 + "/larder" : nil }
    }

    /// Makes the socket if it needs no vault, and allows it to be made in a vault from now on.
    /// - Parameter respond: answers a request. It is called on the threads that tasks share.
    func begin(
        logger: Logger, clock: HostClock = .system, answering respond: @escaping ControlListener.Responder
    ) async {
        answering = Answering(respond: respond, logger: logger, clock: clock)
        await listenWithoutVault()
    }

    private func listenWithoutVault() async {
        guard let runtimeFolder, let answering else { return }
        // A problem is told with the first vault, which is tried next.
        do throws(Failure) { _ = try await listen(in: runtimeFolder, answering) } catch {}
    }

    /// Makes the socket anew if somebody removed it, unless that needs a vault. What is being answered on the old one is
    /// answered. The vaults' locks name the new one after ``path(forVault:)``.
    /// - Returns: whether the vaults' locks may name another socket than the present one.
    @discardableResult
    func checkSocket() async -> Bool {
        guard !isClosed else { return false }
        if let socket {
            guard await !runBlocking({ socket.isInPlace }), self.socket?.path == socket.path else { return false }
            answering?.logger.warning("The control socket \(socket.path) is gone, and is made anew")
            self.socket = nil
            listener?.stop()
            listener = nil
        }
        await listenWithoutVault()
        return true
    }

    /// Returns the path of the socket, and makes it if that was not done yet.
    /// - Parameter vault: the path of a vault that this process has just opened.
    /// - Returns: nil before ``begin(logger:clock:answering:)``, and if no socket can be made, for a reason that the log
    ///   says.
    func path(forVault vault: String) async -> String? {
        if let socket { return socket.path }
        guard let answering else { return nil }
        var problems: [String] = []
        // The path stands in one line of the vault's lock.
        for folder in [runtimeFolder, vault + "/control"] where !(folder?.contains("\n") ?? true) {
            guard let folder, !isClosed else { continue }
            do throws(Failure) { return try await listen(in: folder, answering) } catch {
                problems.append(error.message)
            }
        }
        let problem = problems.joined(separator: "; ")
        if !problems.isEmpty, problem != told { answering.logger.warning("The host takes no commands: \(problem)") }
        told = problem
        return nil
    }

    private func listen(
        in folder: String, _ answering: Answering
    ) async throws(Failure) -> String {
        let result = await runBlocking { () -> Result<ControlSocket, Failure> in
            do throws(Failure) { return .success(try ControlSocket(in: folder)) } catch { return .failure(error) }
        }
        let made = try result.get()
        // Another account may have been opened meanwhile, or the host may be ending.
        if let other = isClosed ? made : socket {
            Glibc.close(made.descriptor)
            await runBlocking { made.remove() }
            return other.path
        }
        let listener: ControlListener
        do throws(Failure) {
            listener = try ControlListener(
                made.descriptor, logger: answering.logger, clock: answering.clock, answering: answering.respond)
        } catch {
            // Nobody is to find a socket at which nobody listens.
            await runBlocking { made.remove() }
            throw error
        }
        (socket, told) = (made, nil)
        self.listener = listener
        listening.append(Task { await listener.run() })
        return made.path
    }

    /// Ends the answers that are under way, and removes the socket.
    func close() async {
        isClosed = true
        if let socket { await runBlocking { socket.remove() } }
        for task in listening { task.cancel() }
        for task in listening { await task.value }
    }
}
