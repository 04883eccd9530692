import Glibc
import HummingbirdCore
import Logging
import Model
import Threads

/// The control socket of a host and the task that answers on it. There is one for each process that runs the accounts.
///
/// The socket is in the folder `larder` below `$XDG_RUNTIME_DIR`. Without that variable, or if no socket can be made
/// there, it is in the folder `control` of the vault that is opened first.
actor Control {
    private let runtimeFolder: String?
    private var answering: (respond: HTTPChannelHandler.Responder, logger: Logger)?
    private var socket: ControlSocket?
    private var listening: Task<Void, Never>?
    private var isClosed = false

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
    func begin(logger: Logger, answering respond: @escaping HTTPChannelHandler.Responder) async {
        answering = (respond, logger)
        guard let runtimeFolder else { return }
        // A problem is told with the first vault, which is tried next.
        do throws(Failure) { _ = try await listen(in: runtimeFolder, (respond, logger)) } catch {}
    }

    /// Returns the path of the socket, and makes it if that was not done yet.
    /// - Parameter vault: the path of a vault that this process has just opened.
    /// - Returns: nil before ``begin(logger:answering:)``, and if no socket can be made, for a reason that the log
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
        if !problems.isEmpty {
            answering.logger.warning("The host takes no commands: \(problems.joined(separator: "; "))")
        }
        return nil
    }

    private func listen(
        in folder: String, _ answering: (respond: HTTPChannelHandler.Responder, logger: Logger)
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
        socket = made
        let listener = try await ControlListener(
            made.descriptor, logger: answering.logger, answering: answering.respond)
        listening = Task { await listener.run() }
        return made.path
    }

    /// Ends the answers that are under way, and removes the socket.
    func close() async {
        isClosed = true
        if let socket { await runBlocking { socket.remove() } }
        listening?.cancel()
        await listening?.value
    }
}
