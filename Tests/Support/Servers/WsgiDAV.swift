extension RealServer {
    /// Starts WsgiDAV from PyPI.
    func startWsgiDAV(_ options: Options) throws -> ChildProcess {
        let environment = try PythonEnvironment.holding("wsgidav")
        // JSON is also YAML, and it can quote any path.
        let users = options.user.map { "{\(quoted($0.name)): {\"password\": \(quoted($0.password))}}" } ?? "true"
        let isDigest = if case .digest = options.login { true } else { false }
        try Files.write(
            """
            {"host": "127.0.0.1", "port": \(port), "provider_mapping": {"/": \(quoted(data))},
             "simple_dc": {"user_mapping": {"*": \(users)}},
             "http_authenticator": {"accept_basic": \(!isDigest), "accept_digest": \(isDigest),
                                    "default_to_digest": \(isDigest)},
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
