import Core
import Model

extension AccountConfig {
    /// Reads what is known of the account, and closes the reader, also if the body throws. Opening and closing block.
    /// - Returns: what the body returns; nil if nothing is known yet.
    /// - Throws: `localIO` if the vault is away; as `AccountReader.open`; the body's error.
    @discardableResult
    func withReader<Value>(
        _ body: (AccountReader) async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard let reader = try reader() else { return nil }
        return try await reader.close(after: body)
    }

    /// Does the same for an account of which something has to be known.
    /// - Throws: `notFound` if nothing is known yet; as ``withReader(_:)``.
    func withKnownReader<Value>(
        _ body: (AccountReader) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await knownReader().close(after: body)
    }
}

extension GlobalOptions {
    /// Reads what is known of the one account that the options name.
    /// - Throws: `config` for a wrong config; as ``AccountConfig/withReader(_:)``.
    @discardableResult
    func withReader<Value>(
        _ body: (AccountReader) async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        try await loadConfig().oneAccount().withReader(body)
    }
}
