import Glibc

extension RealServer {
    /// Starts Apache with `mod_dav`. The configuration is written from scratch, so that the machine's own has no
    /// effect.
    func startApache(_ options: Options) async throws -> ChildProcess {
        let program = "/usr/sbin/apache2"
        guard access(program, X_OK) == 0 else { throw missing("apache2", debian: "apache2-bin") }
        try Files.makeFolder("\(run)/locks")
        var access = "Require all granted"
        if let user = options.user {
            access = try await passwords(of: user, options.login) + "\nRequire valid-user"
        }
        var modules = [
            "mpm_event", "authn_core", "authn_file", "auth_basic", "auth_digest", "authz_core", "authz_user", "mime",
            "dav", "dav_fs",
        ]
        var tls = ""
        if let certificate = options.certificate {
            modules.append("ssl")
            tls = """
                SSLEngine on
                SSLCertificateFile "\(certificate.file)"
                SSLCertificateKeyFile "\(certificate.key)"
                """
            if options.hasOldTLS { tls += "\nSSLProtocol all -TLSv1.3" }
            if let authority = options.clientAuthority {
                tls += "\nSSLVerifyClient require\nSSLCACertificateFile \"\(authority.file)\""
            }
        }
        var pace = ""
        if let limit = options.kilobytesPerSecond {
            modules += ["env", "ratelimit"]
            pace = "SetOutputFilter RATE_LIMIT\n  SetEnv rate-limit \(limit)"
        }
        try Files.write("text/plain txt\nimage/jpeg jpg\napplication/pdf pdf\n", to: "\(run)/types")
        let load = modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        let user = Build.isRoot ? "User www-data\nGroup www-data" : ""
        try Files.write(
            """
            ServerRoot "\(run)"
            ServerName 127.0.0.1
            Listen 127.0.0.1:\(port)
            PidFile "\(run)/pid"
            DefaultRuntimeDir "\(run)"
            Mutex pthread default
            \(user)
            \(load.joined(separator: "\n"))
            TypesConfig "\(run)/types"
            ErrorLog "\(run)/server.log"
            LogFormat "%s %B \\"%{Range}i\\" \\"%r\\"" requests
            CustomLog "\(run)/access.log" requests
            KeepAlive On
            MaxKeepAliveRequests 0
            AllowEncodedSlashes NoDecode
            LimitXMLRequestBody 0
            DavLockDB "\(run)/locks/db"
            DocumentRoot "\(data)"
            \(tls)
            <Directory "\(data)">
              Dav On
              DavDepthInfinity \(options.depthInfinity ? "on" : "off")
              AllowOverride None
              \(access)
              \(pace)
            </Directory>

            """, to: "\(run)/apache.conf")
        if Build.isRoot { try await mustRun("chown", ["-R", "www-data:www-data", "\(run)/locks"]) }
        return try ChildProcess(
            program, ["-f", "\(run)/apache.conf", "-DFOREGROUND"], output: "\(run)/server.log",
            errors: "\(run)/server.log")
    }

    /// Writes the file with the user's password.
    /// - Returns: the settings that require it.
    private func passwords(
        of user: (name: String, password: String), _ login: RealServer.Options.Login
    ) async throws -> String {
        switch login {
        case .basic:
            try await mustRun("htpasswd", ["-bc", "\(run)/passwords", user.name, user.password])
            return """
                AuthType Basic
                AuthName test
                AuthUserFile "\(run)/passwords"
                """
        case .digest(let lifetime):
            // `htdigest` asks for the password on a terminal.
            let script = #"printf '%s:test:' "$1"; printf '%s:test:%s' "$1" "$2" | md5sum | cut -d' ' -f1"#
            let line = try await mustRun("sh", ["-c", script, "sh", user.name, user.password])
            try Files.write(line, to: "\(run)/passwords")
            return """
                AuthType Digest
                AuthName test
                AuthUserFile "\(run)/passwords"
                AuthDigestNonceLifetime \(lifetime)
                """
        }
    }

    /// Makes the error for a program that is not installed.
    /// - Parameter package: the Debian package that contains the program.
    func missing(_ program: String, debian package: String) -> SetupError {
        SetupError("\(program) is not installed: ./Tests/run installs it (apt-get install \(package))")
    }
}
