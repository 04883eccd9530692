public import Model

/// A request to an account, from a person or from a program on a person's behalf, with an answer.
///
/// A command does the same whether the account is at work (``AccountHost/run()``) or was only opened. A program that
/// has no account of its own can send a command to the program that has it: the command and its answer can be encoded.
public protocol AccountCommand<Answer>: Codable, Sendable {
    /// The type of the answer.
    associatedtype Answer: Codable & Sendable

    /// The name by which a program sends the command. No two commands have the same name.
    static var name: String { get }

    /// Carries out the command. Callers use ``AccountHost/perform(_:)``.
    /// - Throws: The errors that the command's own comment names, and the database's `Failure`: `.localIO`,
    ///   `.vaultLocked` or `.internal`. `.failed` if the task is cancelled, or if the account's work ends before the
    ///   command has its answer.
    func carryOut(for host: AccountHost) async throws(Failure) -> Answer
}

/// The answer of a command that has nothing to tell.
public struct Done: Codable, Hashable, Sendable {
    /// Creates the answer.
    public init() {}
}

/// The commands that an account understands.
public enum AccountCommands {
    /// The types of all commands.
    public static let all: [any AccountCommand.Type] = [
        Pins.Add.self, Pins.Remove.self,
        ServerChange.self,
        Copies.Get.self, Copies.Free.self, Copies.NoteUse.self, Copies.NoteExport.self,
        Claims.Add.self, Claims.Remove.self,
        Policies.Add.self, Policies.Update.self, Policies.Remove.self, Policies.Move.self, Policies.Run.self,
        Records.Cancel.self, Records.Retry.self,
        Issues.Answer.self,
        Loops.Poll.self, Loops.Switch.self,
        Plugins.Retry.self,
        Accounts.Verify.self, Accounts.Approve.self, Wait.self, Pauses.Begin.self, Pauses.End.self,
    ]
}

extension AccountHost {
    /// The time between two reports of the progress of a command.
    static let progressInterval = Duration.milliseconds(500)

    /// Carries out a command and returns its answer.
    /// - Throws: As ``AccountCommand/carryOut(for:)``.
    @discardableResult
    public func perform<Command: AccountCommand>(_ command: Command) async throws(Failure) -> Command.Answer {
        try await work.carryOut { () async throws(Failure) in try await command.carryOut(for: self) }
    }

    /// Carries out a command, and reports the progress of the account's transfers until the command has its answer.
    /// - Parameter progress: Receives the progress when it has changed, at most twice a second. Called on any thread.
    /// - Throws: As ``AccountCommand/carryOut(for:)``.
    @discardableResult
    public func perform<Command: AccountCommand>(
        _ command: Command, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(Failure) -> Command.Answer {
        try await reporting(to: progress) { [self] () async throws(Failure) in try await command.carryOut(for: self) }
    }

    /// Carries out the body of a command, and reports the progress until it has ended.
    func reporting<Answer: Sendable>(
        to progress: @escaping @Sendable (TransferProgress) -> Void,
        _ body: @escaping @Sendable () async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        let result = await withTaskGroup(of: Void.self) { [self] group -> Result<Answer, Failure> in
            group.addTask { [self] in await reportProgress(to: progress) }
            defer { group.cancelAll() }
            do throws(Failure) { return .success(try await work.carryOut(body)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func reportProgress(to report: @Sendable (TransferProgress) -> Void) async {
        var last = progress
        while true {
            // The sleep ends early when the command has its answer.
            do { try await clock.sleep(Self.progressInterval) } catch { return }
            let now = progress
            if now != last { report(now) }
            last = now
        }
    }

    func failing<T: Sendable>(_ body: @Sendable () async throws -> T) async throws(Failure) -> T {
        do { return try await body() } catch { throw Failure(of: error) }
    }
}
