import Core
import Model

/// What a request to the control socket asks for. A value without I/O.
enum ControlRequest: Hashable {
    /// The state of the host and of all its accounts.
    case host
    /// The config is to be read anew.
    case reload
    /// The state of an account.
    case account(String)
    /// What goes on in an account, until the client closes the connection.
    case watch(String)
    /// The calls into a plugin for an account, until the client closes the connection.
    case trace(plugin: String, account: String)
    /// A live query: the list and its changes, until the client closes the connection. The server may be asked for the
    /// folder first.
    case query(LiveQuery, refreshes: Bool, account: String)
    /// The account's change feed behind a position, until the client closes the connection; nil: from now on.
    case changes(ChangePosition?, account: String)
    /// A command to an account.
    case command(String, account: String)

    /// Reads a request's method and target.
    /// - Throws: `notFound` if there is no such target, `usage` if it takes another method.
    init(_ method: String, _ target: String) throws(Failure) {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        // The names of accounts, plugins and commands have no character that an address encodes.
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 2, parts[0].isEmpty, parts[1] == "v1" else { throw Self.unknown(target) }
        let words = Array(parts[2...])
        let allowed: String
        switch words.count {
        case 1 where words[0] == "host": (self, allowed) = (.host, "GET")
        case 1 where words[0] == "reload": (self, allowed) = (.reload, "POST")
        case 2 where words[0] == "accounts": (self, allowed) = (.account(words[1]), "GET")
        case 3 where words[0] == "accounts" && words[2] == "events": (self, allowed) = (.watch(words[1]), "GET")
        case 3 where words[0] == "accounts" && words[2] == "query":
            let (query, refreshes) = try LiveQuery.read(target)
            (self, allowed) = (.query(query, refreshes: refreshes, account: words[1]), "GET")
        case 3 where words[0] == "accounts" && words[2] == "changes":
            (self, allowed) = (.changes(try ChangePosition(parameters: target), account: words[1]), "GET")
        case 4 where words[0] == "accounts" && words[2] == "commands":
            (self, allowed) = (.command(words[3], account: words[1]), "POST")
        case 5 where words[0] == "accounts" && words[2] == "plugins" && words[4] == "trace":
            (self, allowed) = (.trace(plugin: words[3], account: words[1]), "GET")
        default: throw Self.unknown(target)
        }
        guard method == allowed else { throw Failure(.usage, "\(path) takes \(allowed) only") }
    }

    init(_ message: ControlMessage) throws(Failure) { try self.init(message.method, message.target) }

    private static func unknown(_ target: String) -> Failure {
        Failure(.notFound, "there is no \(target) on the control socket")
    }

    /// The method and the target that ask for this.
    var head: (method: String, path: String) {
        switch self {
        case .host: ("GET", "/v1/host")
        case .reload: ("POST", "/v1/reload")
        case .account(let name): ("GET", "/v1/accounts/\(name)")
        case .watch(let name): ("GET", "/v1/accounts/\(name)/events")
        case .trace(let plugin, let account): ("GET", "/v1/accounts/\(account)/plugins/\(plugin)/trace")
        case .query(let query, let refreshes, let account):
            ("GET", "/v1/accounts/\(account)/query\(query.parameters)\(refreshes ? "&refresh=1" : "")")
        case .changes(let position, let account):
            ("GET", "/v1/accounts/\(account)/changes\(position.map { "?since=\($0)" } ?? "")")
        case .command(let command, let account): ("POST", "/v1/accounts/\(account)/commands/\(command)")
        }
    }
}

/// The names of header fields of a request.
enum ControlField {
    /// The version of the program that sends a request.
    static let version = "larder-version"
    /// A digest of the account's part of the config that the sender has read.
    static let account = "larder-account"
}

extension Failure.Kind {
    /// The status of an answer that is this failure, with its reason.
    var status: String {
        switch self {
        case .usage, .badData: "400 Bad Request"
        case .notFound: "404 Not Found"
        case .vaultLocked, .config: "409 Conflict"
        case .denied: "403 Forbidden"
        case .unreachable, .protocolViolation: "502 Bad Gateway"
        case .failed, .timedOut, .internal, .cannotCreate, .localIO: "500 Internal Server Error"
        }
    }
}
