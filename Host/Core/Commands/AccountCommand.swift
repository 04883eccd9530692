public import Model

/// A request to an account, from a person or from a program on a person's behalf, with an answer.
public protocol AccountCommand<Answer>: Sendable {
    /// The type of the answer.
    associatedtype Answer: Sendable

    /// Carries out the command. Callers use ``AccountHost/perform(_:)``.
    /// - Throws: The errors that the command's own comment names, and the database's `Failure`: `.localIO`,
    ///   `.vaultLocked` or `.internal`. `.failed` if the task is cancelled.
    func carryOut(for host: AccountHost) async throws(Failure) -> Answer
}

extension AccountHost {
    /// Carries out a command and returns its answer.
    /// - Throws: As ``AccountCommand/carryOut(for:)``.
    public func perform<Command: AccountCommand>(_ command: Command) async throws(Failure) -> Command.Answer {
        try await command.carryOut(for: self)
    }

    func failing<T: Sendable>(_ body: @Sendable () async throws -> T) async throws(Failure) -> T {
        do { return try await body() } catch { throw Failure(of: error) }
    }
}
