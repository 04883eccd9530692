import Core
import Model

/// An account of the config: its bookmark, and where its secret is found.
struct AccountConfig: Hashable, Sendable {
    enum Secret: Hashable, Sendable {
        case none
        case password(SecretSetting)
        case token(SecretSetting)
    }

    /// The kind of login.
    enum Login: String, Hashable, Sendable, CaseIterable { case auto, basic, digest, bearer }

    var bookmark: Bookmark
    var secret: Secret
    var login = Login.auto
    var proxyLogin = ProxySetting.Login.none
    /// A digest of the account's part of the config, after the environment was applied. No secret is part of it.
    var digest = ""

    /// Reads the secret anew, so that a changed secret is found.
    /// - Throws: `config`, with the place in the config and without any part of the secret.
    func readSecret() async throws(Failure) -> AccountSecret {
        // The file's mark is taken before the file is read. If the file is written in between, its mark differs from
        // this one and the file is read again.
        let proxyLogin = try await proxyLogin.read()
        switch secret {
        case .none: return AccountSecret(.none, proxyLogin: proxyLogin)
        case .password(let secret):
            let writing = secret.source.writing
            let password = try await secret.read()
            return AccountSecret(credentials(password), writing: writing, proxyLogin: proxyLogin)
        case .token(let secret):
            let writing = secret.source.writing
            let token = try await secret.read()
            return AccountSecret(credentials(token), writing: writing, proxyLogin: proxyLogin)
        }
    }

    /// Returns the credentials that the account makes of its password or token.
    func credentials(_ text: String) -> Credentials {
        let username = bookmark.username ?? ""
        switch (secret, login) {
        case (.none, _): return .none
        case (.token, _): return .bearer(token: text)
        case (.password, .basic): return .basic(username: username, password: text)
        case (.password, .digest): return .digest(username: username, password: text)
        case (.password, .auto), (.password, .bearer): return .password(username: username, password: text)
        }
    }
}

extension AccountConfig {
    /// Decodes an account. Fails if its name, its address or its vault is missing or wrong.
    /// - Parameters:
    ///   - value: one entry of `accounts`.
    ///   - index: the entry's number, which stands for the account's name in messages if it has none.
    init?(_ value: ConfigValue, index: Int, in decoding: ConfigDecoding) {
        let name = value.pairs?["name"].flatMap { decoding.accountName($0, index: index) }
        let keyPath = "accounts.\(name ?? "\(index)")"
        var map = ConfigMap(value, at: keyPath, in: decoding)
        guard value.pairs != nil else { return nil }
        if map.take("name") == nil { decoding.refuse(value.source, "`\(keyPath).name` is missing") }
        let url = map.take("url")
        let address = url.flatMap { decoding.url($0, at: keyPath + ".url") }
        if url == nil { decoding.refuse(value.source, "`\(keyPath).url` is missing") }
        let username = map.take("username").flatMap { decoding.text($0, at: keyPath + ".username") }
        secret = Self.secret(&map, hasUsername: username != nil)
        login = Self.login(&map, value.pairs?["auth"], value.pairs ?? [])
        let proxy = ProxySetting(map.take("proxy"), at: keyPath + ".proxy", for: address, in: decoding)
        proxyLogin = proxy.login
        let (trust, client) = Self.certificates(map.take("tls"), at: keyPath + ".tls", in: decoding)
        let vault = Self.vault(&map, name: name)
        let files = map.take("files").flatMap { decoding.path($0, at: keyPath + ".files") }
        let changes = map.scalar(
            "local-changes", or: Bookmark.LocalChanges.report, json: { .string($0.rawValue) },
            parse: {
                text, _ throws(Wrong) in
                if text == "upload" {
                    throw Wrong("this build does not upload changes in the tree; write report or ignore")
                }
                let word = try ConfigScalar.word(text, of: ["report", "ignore"])
                return word == "ignore" ? .ignore : .report
            })
        let rules = ConflictRules(&map, value.pairs?["on-conflict"])
        let plugins = decoding.accountPlugins(map.take("plugins"), at: keyPath, of: name ?? "\(index)")
        map.refuseUnknown()
        let folders = [vault, files ?? vault.map { $0 + "/files" }].compactMap(\.self)
        for clash in decoding.claims.take(folders: folders, of: name ?? "\(index)") {
            decoding.refuse(value.source, clash)
        }
        guard let name, let address, let vault else { return nil }
        if files == nil { decoding.show(keyPath + ".files", .string(vault + "/files"), .builtIn) }
        bookmark = Bookmark(
            name: name, url: address, username: username, trust: trust, clientCertificate: client, proxy: proxy.proxy,
            vault: vault,
            files: files ?? vault + "/files",
            localChanges: changes, onConflict: rules, plugins: plugins)
    }

    private static func secret(_ map: inout ConfigMap, hasUsername: Bool) -> Secret {
        let password = map.take("password")
        let token = map.take("token")
        if let token, password != nil {
            map.decoding.refuse(token.source, "`\(map.keyPath)` has both a password and a token; remove one of them")
        }
        if let password {
            if !hasUsername {
                map.decoding.refuse(
                    password.source, "`\(map.keyPath).username` is missing; a password needs a username")
            }
            return SecretSetting(password, at: map.path(of: "password"), in: map.decoding).map { .password($0) }
                ?? .none
        }
        return token.flatMap { SecretSetting($0, at: map.path(of: "token"), in: map.decoding) }.map { .token($0) }
            ?? .none
    }

    private static func login(_ map: inout ConfigMap, _ pair: ConfigPair?, _ account: [ConfigPair]) -> Login {
        let login = map.scalar(
            "auth", or: Login.auto, json: { .string($0.rawValue) },
            parse: { text, _ throws(Wrong) in
                if text == "negotiate" {
                    throw Wrong(
                        "negotiate (Kerberos) is not supported; write auto with a username and a password, such as an "
                            + "app password, or bearer with a token")
                }
                return try ConfigScalar.word(text, of: Login.self)
            })
        let missing: String? =
            switch login {
            case .auto: nil
            case .basic, .digest: account["password"] == nil ? "`username` and `password`" : nil
            case .bearer: account["token"] == nil ? "`token`" : nil
            }
        if let missing, let pair {
            map.decoding.refuse(
                pair.value.source, "`\(map.path(of: "auth"))`: \(login.rawValue) needs \(missing) beside it")
        }
        return login
    }

    private static func certificates(
        _ pair: ConfigPair?, at keyPath: String, in decoding: ConfigDecoding
    ) -> (Bookmark.Trust, Bookmark.ClientCertificate?) {
        var map = ConfigMap(pair?.value, at: keyPath, in: decoding)
        let trust = trust(&map, pair, at: keyPath, in: decoding)
        let (certificate, key) = (map.take("certificate"), map.take("key"))
        map.refuseUnknown()
        if (certificate == nil) != (key == nil) {
            decoding.refuse(
                (certificate ?? key)?.source ?? map.source,
                "`\(keyPath)` needs both `certificate` and `key`, or neither")
        }
        guard let certificate, let key, let file = decoding.path(certificate, at: keyPath + ".certificate"),
            let keyFile = decoding.path(key, at: keyPath + ".key")
        else { return (trust, nil) }
        decoding.refuseReadableByAll(keyFile, key.value.source, keyPath + ".key")
        let client = Bookmark.ClientCertificate(certificate: file, key: keyFile)
        let source = certificate.value.source
        decoding.laterChecks.append {
            do throws(Failure) {
                try ServerTrust.check(client)
                return nil
            } catch {
                return ConfigProblem(source: source, message: "`\(keyPath)`: \(error.message)")
            }
        }
        return (trust, client)
    }

    private static func trust(
        _ map: inout ConfigMap, _ pair: ConfigPair?, at keyPath: String, in decoding: ConfigDecoding
    ) -> Bookmark.Trust {
        let (word, file, print) = (map.take("trust"), map.take("ca"), map.take("fingerprint"))
        let given = [word, file, print].compactMap { $0 }
        if given.count > 1 {
            decoding.refuse(
                pair?.source ?? map.source, "`\(keyPath)` takes only one of `trust`, `ca` and `fingerprint`")
        }
        guard let first = given.first else {
            decoding.show(keyPath + ".trust", .string("system"), .builtIn)
            return .system
        }
        guard let text = decoding.text(first, at: keyPath + "." + first.key, shown: false) else { return .system }
        do throws(Wrong) {
            switch first.key {
            case "ca":
                let path = try decoding.paths.absolute(text)
                let source = first.value.source
                decoding.show(keyPath + ".ca", .string(path), source)
                decoding.laterChecks.append {
                    do throws(Failure) {
                        try ServerTrust.check(.authorities(file: path))
                        return nil
                    } catch {
                        return ConfigProblem(source: source, message: "`\(keyPath).ca`: \(error.message)")
                    }
                }
                return .authorities(file: path)
            case "fingerprint":
                let bytes = try ConfigScalar.fingerprint(text)
                decoding.show(keyPath + ".fingerprint", .string(text), first.value.source)
                return .fingerprint(bytes)
            default:
                let word = try ConfigScalar.word(text, of: ["system", "pinned"])
                decoding.show(keyPath + ".trust", .string(word), first.value.source)
                return word == "pinned" ? .pinned : .system
            }
        } catch {
            decoding.refuse(first.value.source, "`\(keyPath).\(first.key)`: \(error.message)")
            return .system
        }
    }

    private static func vault(_ map: inout ConfigMap, name: String?) -> String? {
        let keyPath = map.path(of: "vault")
        if let pair = map.take("vault") { return map.decoding.path(pair, at: keyPath) }
        guard let name else { return nil }
        let data = map.decoding.paths.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        do {
            let path = try map.decoding.paths.absolute((data ?? "~/.local/share") + "/larder/" + name)
            map.decoding.show(keyPath, .string(path), .builtIn)
            return path
        } catch {
            map.decoding.refuse(map.source, "`\(keyPath)` is missing, and \(error.message)")
            return nil
        }
    }
}

extension ConfigDecoding {
    fileprivate func accountName(_ pair: ConfigPair, index: Int) -> String? {
        guard let name = text(pair, at: "accounts.\(index).name", shown: false) else { return nil }
        let isRight = name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_.".utf8.contains($0) }
        guard isRight, name.utf8.first != UInt8(ascii: "."), name.utf8.count <= 64 else {
            refuse(pair.value.source, "an account's name consists of at most 64 letters, digits, `-`, `_` and `.`")
            return nil
        }
        if let problem = claims.take(name: name, at: pair.value.source) { refuse(pair.value.source, problem) }
        show("accounts.\(name).name", .string(name), pair.value.source)
        return name
    }

    /// Returns the server's address. The address may contain a password by mistake, so no message repeats it.
    fileprivate func url(_ pair: ConfigPair, at keyPath: String) -> String? {
        guard let text = text(pair, at: keyPath, shown: false) else { return nil }
        let rest = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }.map { text.dropFirst($0.count) }
        let authority = rest?.prefix { $0 != "/" && $0 != "?" && $0 != "#" } ?? ""
        let problem: String? =
            if rest == nil || authority.isEmpty {
                "must be an address like https://cloud.example.org"
            } else if authority.contains("@") {
                "must not contain a name or password; set `username:` and `password:` instead"
            } else if text.contains("?") || text.contains("#") {
                "must not contain `?` or `#`"
            } else if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) {
                "must not contain spaces or control characters"
            } else { nil }
        if let problem {
            refuse(pair.value.source, "`\(keyPath)` \(problem)")
            return nil
        }
        show(keyPath, .string(text), pair.value.source)
        return text
    }
}

extension ConflictRules {
    /// Decodes an account's `on-conflict`: a word, or a list of maps of `path` and `do`.
    fileprivate init(_ map: inout ConfigMap, _ pair: ConfigPair?) {
        let key = "on-conflict"
        guard case .list(let entries)? = pair?.value.content else {
            let answer = map.scalar(
                key, or: Answer.ask, json: { .string($0.rawValue) },
                parse: { text, _ throws(Wrong) in try ConfigScalar.word(text, of: Answer.self) })
            self.init(answer == .ask ? [] : [Rule(pattern: "*", answer: answer)])
            return
        }
        _ = map.take(key)
        let keyPath = map.path(of: key)
        self.init(
            entries.enumerated().compactMap { Rule($0.element, at: "\(keyPath).\($0.offset)", in: map.decoding) })
    }
}

extension ConflictRules.Rule {
    fileprivate init?(_ value: ConfigValue, at keyPath: String, in decoding: ConfigDecoding) {
        var map = ConfigMap(value, at: keyPath, in: decoding)
        let (path, word) = (map.take("path"), map.take("do"))
        map.refuseUnknown()
        guard value.pairs != nil else { return nil }
        for (key, pair) in [("path", path), ("do", word)] where pair == nil {
            decoding.refuse(value.source, "`\(keyPath).\(key)` is missing")
        }
        let pattern = path.flatMap { decoding.text($0, at: keyPath + ".path") }
        let text = word.flatMap { decoding.text($0, at: keyPath + ".do") }
        guard let pattern, let word, let text else { return nil }
        do {
            self.init(pattern: pattern, answer: try ConfigScalar.word(text, of: ConflictRules.Answer.self))
        } catch {
            decoding.refuse(word.value.source, "`\(keyPath).do`: \(error.message)")
            return nil
        }
    }
}
