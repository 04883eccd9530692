import Model

/// An account's proxy, from the config or the environment, and where its login is found.
struct ProxySetting {
    enum Login: Hashable, Sendable {
        case none
        /// The login in a variable's value.
        case given(ProxyLogin)
        case secret(username: String, SecretSetting)

        /// Reads the login anew.
        /// - Throws: `config`, with the place in the config and without any part of the secret.
        func read() async throws(Failure) -> ProxyLogin? {
            switch self {
            case .none: nil
            case .given(let login): login
            case .secret(let username, let secret):
                ProxyLogin(username: username, password: try await secret.read())
            }
        }
    }

    var proxy: Proxy?
    var login = Login.none

    /// Decodes `none`, an address, or a map of an address with its login. Without a setting the environment's variables
    /// hold.
    /// - Parameter url: the address of the account's server; nil if it is wrong.
    init(_ pair: ConfigPair?, at keyPath: String, for url: String?, in decoding: ConfigDecoding) {
        guard let pair, !pair.value.isNull else {
            useVariables(at: keyPath, for: url, in: decoding)
            return
        }
        guard pair.value.pairs != nil else {
            guard let text = decoding.text(pair, at: keyPath, shown: false) else { return }
            if text == "none" {
                decoding.show(keyPath, .string(text), pair.value.source)
            } else {
                use(text, pair.value.source, at: keyPath, in: decoding)
            }
            return
        }
        var map = ConfigMap(pair.value, at: keyPath, in: decoding)
        let (address, username, password) = (map.take("url"), map.take("username"), map.take("password"))
        map.refuseUnknown()
        if let address {
            if let text = decoding.text(address, at: keyPath + ".url", shown: false) {
                use(text, address.value.source, at: keyPath + ".url", in: decoding)
            }
        } else {
            decoding.refuse(pair.source, "`\(keyPath).url` is missing")
        }
        let name = username.flatMap { decoding.text($0, at: keyPath + ".username") }
        let secret = password.flatMap { SecretSetting($0, at: keyPath + ".password", in: decoding) }
        guard (username == nil) == (password == nil) else {
            decoding.refuse(pair.source, "`\(keyPath)` needs both `username` and `password`, or neither")
            return
        }
        guard let name, let secret else { return }
        if proxy?.kind == .socks5, let username {
            decoding.refuse(
                username.value.source,
                "`\(keyPath)`: a SOCKS5 proxy with a username and a password is not supported; use an HTTP proxy")
        }
        login = .secret(username: name, secret)
    }

    private mutating func use(_ text: String, _ source: ConfigSource, at keyPath: String, in decoding: ConfigDecoding) {
        do throws(Wrong) {
            let address = try ProxyAddress(text)
            guard address.login == nil else {
                throw Wrong(
                    "it must not contain a username or password; write { url: ADDRESS, username: NAME, "
                        + "password: { file: FILE } }")
            }
            proxy = address.proxy
            decoding.show(keyPath, .string(text), source)
        } catch {
            decoding.refuse(source, "`\(keyPath)`: \(error.message)")
        }
    }

    private mutating func useVariables(at keyPath: String, for url: String?, in decoding: ConfigDecoding) {
        let variables = ProxyVariables(environment: decoding.paths.environment)
        guard let url, let (variable, value) = variables.proxy(for: url) else {
            decoding.show(keyPath, .string("none"), .builtIn)
            return
        }
        do throws(Wrong) {
            let address = try ProxyAddress(value)
            proxy = address.proxy
            login = address.login.map { .given($0) } ?? .none
            decoding.show(keyPath, .string("\(address.proxy)"), .environment(variable))
        } catch {
            decoding.refuse(
                .environment(variable), "`\(keyPath)`: \(error.message); `proxy: none` in the config goes without one")
        }
    }
}
