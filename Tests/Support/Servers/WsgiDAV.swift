import FoundationEssentials
import Glibc

extension RealServer {
    /// WsgiDAV from PyPI, in a virtual environment: `LARDER_TEST_VENV`, else `.build/test-venv`.
    func startWsgiDAV(_ options: Options) throws -> ChildProcess {
        let environment = ProcessInfo.processInfo.environment["LARDER_TEST_VENV"] ?? "\(Build.root)/.build/test-venv"
        guard access("\(environment)/bin/wsgidav", X_OK) == 0 else {
            throw SetupError(
                "WsgiDAV is not installed in \(environment): ./Tests/run makes that virtual environment "
                    + "(python3 -m venv, then pip install wsgidav cheroot); LARDER_TEST_VENV names another one")
        }
        // JSON is YAML too, and quotes any path.
        let users = options.user.map { "{\(quoted($0.name)): {\"password\": \(quoted($0.password))}}" } ?? "true"
        try Files.write(
            """
            {"host": "127.0.0.1", "port": \(port), "provider_mapping": {"/": \(quoted(data))},
             "simple_dc": {"user_mapping": {"*": \(users)}},
             "http_authenticator": {"accept_basic": true, "accept_digest": false, "default_to_digest": false},
             "lock_storage": true, "property_manager": true, "verbose": 1, "logging": {"enable_loggers": []}}

            """, to: "\(run)/wsgidav.yaml")
        return try ChildProcess(
            "\(environment)/bin/python", ["-m", "wsgidav.server.server_cli", "--config", "\(run)/wsgidav.yaml"],
            output: "\(run)/server.log", errors: "\(run)/server.log")
    }

    private func quoted(_ text: String) -> String {
        var result = "\""
        for character in text {
            if character == "\"" || character == "\\" { result.append("\\") }
            result.append(character)
        }
        return result + "\""
    }
}
