public import Model

/// What a person, or a program for one, asks of an account: a request with an answer.
public protocol AccountCommand<Answer>: Sendable {
    associatedtype Answer: Sendable

    /// Does it. To be called through ``AccountHost/perform(_:)``.
    /// - Throws: What the command's own comment says, and the database's `Failure`: `.localIO`, `.vaultLocked` or
    ///   `.internal`. `.failed` if the task is cancelled.
    func carryOut(for host: AccountHost) async throws(Failure) -> Answer
}

extension AccountHost {
    /// Does what a command asks for.
    /// - Throws: As ``AccountCommand/carryOut(for:)``.
    public func perform<Command: AccountCommand>(_ command: Command) async throws(Failure) -> Command.Answer {
        try await command.carryOut(for: self)
    }

    func failing<T: Sendable>(_ body: @Sendable () async throws -> T) async throws(Failure) -> T {
        do { return try await body() } catch { throw Failure(of: error) }
    }
}
