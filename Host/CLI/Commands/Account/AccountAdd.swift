import ArgumentParser
import Core
import Glibc
import Model

struct AccountAdd: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an account to the config.",
        discussion: """
            Asks for what is missing, if there is a terminal. Otherwise the secret is read from --password-file or from \
            standard input. Tries the login first. Then writes the secret into the file NAME.password beside the \
            config, and the account into the config, which is created if there is none. If the login does not work, \
            nothing is written.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The address of the server, or of a WebDAV collection.") var url: String
    @Option(help: ArgumentHelp("The account's name. Default: the first part of the server's name.", valueName: "name"))
    var name: String?
    @Option(help: ArgumentHelp("The login name.", valueName: "name")) var username: String?
    @Option(help: ArgumentHelp("Read the password from this file; it is copied.", valueName: "file"))
    var passwordFile: String?
    @Flag(help: "The secret is a token (bearer) and not a password.") var token = false
    @Flag(help: "Use the account without a login.") var anonymous = false
    @Option(help: ArgumentHelp("The folder of the local copies.", valueName: "folder")) var files: String?
    @Option(help: ArgumentHelp("The folder of the vault.", valueName: "folder")) var vault: String?
    @Option(help: ArgumentHelp("Trust the authorities in this PEM file.", valueName: "file")) var ca: String?
    @Option(help: ArgumentHelp("Trust the certificate with this SHA-256 fingerprint.", valueName: "sha256"))
    var fingerprint: String?
    @Flag(help: "Trust the server by its public key, which you approve.") var pinned = false
    @Flag(help: "Approve what would be asked, such as plain HTTP. It is printed all the same.") var approve = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let person = Person(console)
        _ = try global.level()
        let name = if let name { name } else { try Self.name(of: url) }
        let username = try await login(person)
        let path = try Config.path(global.request, environment: processEnvironment())
        let file = try ConfigFile.readOrNew(path)
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let secretPath = "\(folder)/\(name).password"
        let entry = entry(name, username)
        let (text, config) = try edited(file, path, name, entry)
        guard let account = config.accounts.first(where: { $0.bookmark.name == name }) else {
            throw Failure(.badData, "`\(Text.visible(name))` cannot be an account's name")
        }
        if !anonymous,
            let other = config.accounts.first(where: { $0 != account && $0.secretFiles.contains(secretPath) })
        {
            throw Failure(
                .badData, "the account \(other.bookmark.name) uses the file \(secretPath)", hint: "give another --name")
        }
        let secret = anonymous ? "" : try await secret(person)
        let approvals = try await probe(account, secret, config, person, console)
        // Whatever there was, this account is new.
        try KnownVaults(environment: processEnvironment())?.remove(account.bookmark.vault)
        try write(secret, secretPath, text, file, entry, console)
        if global.isJSON {
            console.print(JSONValue(account.bookmark, .offline))
        } else {
            console.print("\(name) was added to \(file.path)")
            console.note("`larder run --once` finds what is on the server", as: .info)
        }
        // If this fails, the account asks again.
        if !approvals.isEmpty {
            let process = config.hostProcess(console)
            let host = try await process.open(account.bookmark) { AccountSecret(.none) }
            try await host.perform(Accounts.Approve(approvals))
            try await host.close()
            try await process.close()
        }
        return await reloadHosts(of: config)
    }

    /// Returns the login name, nil for an account without one.
    private func login(_ person: Person) async throws(Failure) -> String? {
        if anonymous {
            guard username == nil, passwordFile == nil, !token else {
                throw Failure(
                    .usage, "--anonymous goes with no login: neither --username nor --password-file nor --token")
            }
            return nil
        }
        if let username { return username }
        if token { return nil }
        let hint = "give --username; --token for a token, or --anonymous for a server without a login"
        guard person.isThere else { throw Failure(.usage, "there is no login name", hint: hint) }
        let name = try await person.ask("Login name: ")
        guard !name.isEmpty else { throw Failure(.usage, "there is no login name", hint: hint) }
        return name
    }

    private func secret(_ person: Person) async throws(Failure) -> String {
        if let passwordFile {
            let path = passwordFile.hasPrefix("/") ? passwordFile : "\(currentFolder())/\(passwordFile)"
            return try await SecretSource.file(path).read()
        }
        guard person.isThere else { return try await SecretSource.file("/dev/stdin").read() }
        let secret = try await person.askSecret(token ? "Token: " : "Password: ")
        guard !secret.isEmpty else { throw Failure(.usage, "the secret is empty; nothing was changed") }
        return secret
    }

    private func entry(_ name: String, _ username: String?) -> AccountEdit.Entry {
        var entry = AccountEdit.Entry()
        entry.set("name", name)
        entry.set("url", url)
        if let username { entry.set("username", username) }
        if !anonymous { entry.set(token ? "token" : "password", "file", "\(name).password") }
        if let vault { entry.set("vault", Self.absolute(vault)) }
        if let files { entry.set("files", Self.absolute(files)) }
        if let ca { entry.set("tls", "ca", Self.absolute(ca)) }
        if let fingerprint { entry.set("tls", "fingerprint", fingerprint) }
        if pinned { entry.set("tls", "trust", "pinned") }
        return entry
    }

    /// Returns the config's text with the account, and the config that it makes.
    /// - Throws: `badData` if there is an account of that name, `cannotCreate` if the text has no safe place for it,
    ///   `config` with all problems.
    private func edited(
        _ file: ConfigFile, _ path: String, _ name: String, _ entry: AccountEdit.Entry
    ) throws(Failure) -> (text: String, config: Config) {
        let known = ConfigValue(parsing: file.text)?.pairs?["accounts"]?.value.list ?? []
        for account in known {
            guard case .scalar(let other, _)? = account.pairs?["name"]?.value.content, other.hasSameBytes(as: name)
            else {
                continue
            }
            throw Failure(.badData, "there is an account \(name) in \(path) already", hint: "give another --name")
        }
        let text: String
        do {
            text = try AccountEdit.adding(entry, to: file.text)
        } catch {
            throw Failure(.cannotCreate, "\(path) was not changed: \(error.reason)", hint: Self.byHand(entry))
        }
        return (text, try Config.decode(text, file: path, environment: processEnvironment()))
    }

    /// Tries the login, and asks for what has to be approved.
    /// - Returns: what was approved.
    private func probe(
        _ account: AccountConfig, _ secret: String, _ config: Config, _ person: Person, _ console: Console
    ) async throws(Failure) -> [Approval] {
        let credentials = AccountSecret(
            account.credentials(secret), proxyLogin: try await account.proxyLogin.read())
        let probe = AccountProbe(account.bookmark, credentials, options: config.hostProcess(console).options)
        var approvals: [Approval] = []
        var shown: ServerCertificate?
        while true {
            let (finding, certificate) = await probe.connect(approvals)
            if let certificate, certificate != shown {
                shown = certificate
                for line in Self.lines(certificate) { console.note(line, as: .info) }
            }
            switch finding {
            case .works(let server):
                console.note("the login works" + (server.map { ": \($0.name)" } ?? ""), as: .info)
                return approvals
            case .distrusts(let failure):
                // With --ca or --fingerprint the failure itself says what does not fit.
                guard account.bookmark.trust == .system else { throw failure }
                throw Failure(
                    failure.kind, failure.message,
                    hint: "if this is the right server, give --pinned, --fingerprint SHA256 or --ca FILE; nothing was "
                        + "sent to it")
            case .fails(let failure):
                guard failure.hint == .checkCredentials else { throw failure }
                throw Failure(
                    failure.kind, failure.message,
                    hint: "check the login name and the password or token; the account was not added")
            case .asks(let approval, let failure):
                console.note(Text.visible(failure.message), as: .warning)
                guard try await isApproved(person) else {
                    throw Failure(
                        .denied, "\(failure.message); the account was not added", hint: "--approve approves it")
                }
                approvals.append(approval)
            }
        }
    }

    private func isApproved(_ person: Person) async throws(Failure) -> Bool {
        if approve { return true }
        return person.isThere ? try await person.agrees(to: "Approve?") : false
    }

    /// Writes the secret and then the config, so that an account in the config is complete.
    private func write(
        _ secret: String, _ secretPath: String, _ text: String, _ file: ConfigFile, _ entry: AccountEdit.Entry,
        _ console: Console
    ) throws(Failure) {
        if !anonymous {
            if access(secretPath, F_OK) == 0 {
                console.note("larder: \(secretPath), which no account uses, is replaced", as: .warning)
            }
            do {
                try PrivateFile.put(Array((secret + "\n").utf8), at: secretPath)
            } catch {
                throw Failure(
                    error.kind, error.message, hint: "write the secret there by hand, and \(Self.byHand(entry))")
            }
        }
        do {
            try file.replace(with: text)
        } catch {
            let left = anonymous ? "" : "; the secret is in \(secretPath)"
            throw Failure(error.kind, error.message + left, hint: Self.byHand(entry))
        }
    }

    private static func byHand(_ entry: AccountEdit.Entry) -> String {
        "write below `accounts:` by hand: - \(entry.line)"
    }

    private static func lines(_ certificate: ServerCertificate) -> [String] {
        [
            "certificate  \(certificate.fingerprint) (SHA-256), valid until \(Text.time(certificate.validUntil))",
            "public key   \(certificate.key) (SHA-256)",
        ]
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") || path.hasPrefix("~") ? path : ConfigPaths.tidied("\(currentFolder())/\(path)")
    }

    /// Returns the first part of the host's name in an address.
    private static func name(of url: String) throws(Failure) -> String {
        let rest = url.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        let host = rest.prefix { $0 != ":" }
        let first = host.split(separator: ".").first.map(String.init) ?? ""
        let isNumber = host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        guard !first.isEmpty, !isNumber,
            first.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") })
        else { throw Failure(.usage, "the account has no name", hint: "give --name") }
        return first.lowercased()
    }
}

extension AccountConfig {
    /// The files of the account's secrets.
    var secretFiles: [String] {
        switch secret {
        case .none: []
        case .password(let setting), .token(let setting): [setting.source.file].compactMap(\.self)
        }
    }
}
