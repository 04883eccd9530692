import TestServer
import TestSupport

/// Many accounts of one host at one server.
struct Crowd {
    let folder: String
    let names: [String]
    var larder: LarderCommand

    var log: String { "\(folder)/errors" }

    /// Writes the config.
    /// - Parameters:
    ///   - poll: The time between two polls, as in the config.
    ///   - url: The address of the server of an account, by the account's number; that of `server` by default.
    init(
        of count: Int, in folder: String, at server: TestServer, poll: String = "1h",
        url: (Int) -> String? = { _ in nil }
    ) throws {
        self.folder = folder
        names = (0..<count).map { "a\($0)" }
        try Files.write(server.configuration.password, to: "\(folder)/password", mode: 0o600)
        var config = "poll: \(poll)\naccounts:\n"
        for (number, name) in names.enumerated() {
            config +=
                "  - { name: \(name), url: \"\(url(number) ?? server.url)\", vault: \"\(folder)/\(name)\", "
                + "username: \(server.configuration.user), password: { file: \"\(folder)/password\" } }\n"
        }
        try Files.write(config, to: "\(folder)/config.yaml", mode: 0o600)
        try Files.makeFolder("\(folder)/home")
        larder = LarderCommand(config: "\(folder)/config.yaml", home: "\(folder)/home")
    }

    /// The same accounts, with a limit of open files for what is started. Signals to reload that come before the program
    /// has begun are ignored.
    func limited(to files: Int) -> Self {
        var limited = self
        limited.larder.wrapper = ["bash", "-c", "trap '' HUP; ulimit -n \(files) && exec \"$@\"", "bash"]
        return limited
    }

    /// Starts the host; its log is ``log``.
    func start() throws -> ChildProcess { try larder.start(["run"], errors: log) }
}
