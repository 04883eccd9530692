import Glibc
import Model

/// A setting that says where a secret is found. Two settings are equal if they find the same secret, wherever they stand
/// in the config.
struct SecretSetting: Hashable, Sendable {
    /// The key path of the setting, such as `accounts.home.password`.
    var keyPath: String
    var source: SecretSource
    /// The place in the config that names the file, the variable or the command.
    var place: ConfigSource

    static func == (a: Self, b: Self) -> Bool { (a.keyPath, a.source) == (b.keyPath, b.source) }

    func hash(into hasher: inout Hasher) { hasher.combine(source) }

    /// Reads the secret anew.
    /// - Throws: `config`, with the place and without any part of the secret.
    func read() async throws(Failure) -> String {
        do throws(Failure) {
            return try await source.read()
        } catch {
            throw Failure(error.kind, problem(error).description, hint: error.hint)
        }
    }

    /// Returns the present problem of the secret; nil if there is none, or if the secret comes from a command or a
    /// pipe. A command may ask a person, and a pipe gives its bytes only once, so these sources are read only when the
    /// secret is needed.
    func problem() async -> ConfigProblem? {
        if case .command = source { return nil }
        if let path = source.file, access(path, F_OK) == 0, !SecretFile(path: path).canBeReadAgain { return nil }
        do throws(Failure) {
            _ = try await source.read()
            return nil
        } catch {
            return problem(error)
        }
    }

    private func problem(_ failure: Failure) -> ConfigProblem {
        ConfigProblem(source: place, message: "`\(keyPath)`: \(failure.message)")
    }
}

extension SecretSetting {
    /// Decodes `{ file: … }`, `{ credential: … }`, `{ env: … }` or `{ command: […] }`.
    init?(_ pair: ConfigPair, at keyPath: String, in decoding: ConfigDecoding) {
        let howTo = "write { file: FILE }, { credential: NAME }, { env: NAME } or { command: [PROGRAM, ARGUMENT…] }"
        guard pair.value.pairs != nil, !pair.value.isNull else {
            // The value may be the secret itself, so the message does not repeat it.
            decoding.refuse(pair.value.source, "`\(keyPath)`: the config must not contain the secret itself; \(howTo)")
            return nil
        }
        var map = ConfigMap(pair.value, at: keyPath, in: decoding)
        let insecure = map.take("insecure").map { decoding.bool($0, at: keyPath + ".insecure") }
        let file = map.take("file")
        let credential = map.take("credential")
        let variable = map.take("env")
        let command = map.take("command")
        map.refuseUnknown()
        guard [file, credential, variable, command].compactMap({ $0 }).count == 1 else {
            decoding.refuse(pair.source, "`\(keyPath)` needs exactly one source; \(howTo)")
            return nil
        }
        if let file, let path = decoding.path(file, at: keyPath + ".file") {
            if insecure == nil { decoding.show(keyPath + ".insecure", .bool(false), .builtIn) }
            if insecure != true { decoding.refuseReadable(path, file.value.source, keyPath) }
            self.init(keyPath: keyPath, source: .file(path), place: file.value.source)
        } else if let credential, let source = decoding.credential(credential, at: keyPath) {
            self.init(keyPath: keyPath, source: source, place: credential.value.source)
        } else if let variable, let name = decoding.text(variable, at: keyPath + ".env") {
            self.init(keyPath: keyPath, source: .environment(name), place: variable.value.source)
        } else if let command, let words = decoding.texts(command, at: keyPath + ".command") {
            guard !words.isEmpty else {
                decoding.refuse(command.value.source, "`\(keyPath).command` names no program")
                return nil
            }
            // The program's arguments may contain another secret, so they are not shown.
            decoding.show(keyPath + ".command", .string(words[0] + (words.count > 1 ? " …" : "")), command.value.source)
            self.init(keyPath: keyPath, source: .command(words), place: command.value.source)
        } else {
            return nil
        }
        decoding.laterChecks.append { [self] in await problem() }
    }
}

extension ConfigDecoding {
    /// Records a problem if everybody on this machine can read a private key. Its group may: web servers share keys so.
    func refuseReadableByAll(_ path: String, _ source: ConfigSource, _ keyPath: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o004 != 0 else { return }
        refuse(source, "`\(keyPath)`: everybody can read \(path); run `chmod o= \(path)`")
    }

    /// Decodes the name of a credential, which is a file in `$CREDENTIALS_DIRECTORY` (systemd.exec(5)).
    fileprivate func credential(_ pair: ConfigPair, at keyPath: String) -> SecretSource? {
        guard let name = text(pair, at: keyPath + ".credential") else { return nil }
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            refuse(
                pair.value.source,
                "`\(keyPath).credential`: `\(name)` is not the name of a credential; write the name that the service's "
                    + "`LoadCredential=` has before the colon")
            return nil
        }
        let folder = paths.environment["CREDENTIALS_DIRECTORY"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let source = SecretSource.credential(name, folder: folder)
        // The group's bits of such a file stand for an access list, which lets the service's own user read it.
        if let path = source.file { refuseReadable(path, pair.value.source, keyPath, by: 0o004) }
        return source
    }

    fileprivate func refuseReadable(
        _ path: String, _ source: ConfigSource, _ keyPath: String, by others: mode_t = 0o044
    ) {
        var status = stat()
        // A file that does not exist now may exist when the secret is needed.
        guard stat(path, &status) == 0, status.st_mode & others != 0 else { return }
        refuse(
            source,
            "`\(keyPath)`: others can read \(path); run `chmod 600 \(path)`, or write `insecure: true` beside `file` "
                + "if this is intended")
    }
}
