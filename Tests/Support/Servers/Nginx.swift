import Glibc

extension RealServer {
    /// Starts nginx with its modules `dav` and `dav-ext`. The configuration is written from scratch, so that the
    /// machine's own has no effect.
    func startNginx(_ options: Options) async throws -> ChildProcess {
        let program = "/usr/sbin/nginx"
        let module = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"
        guard access(program, X_OK) == 0 else { throw missing("nginx", debian: "nginx") }
        guard access(module, R_OK) == 0 else { throw missing("dav-ext", debian: "libnginx-mod-http-dav-ext") }
        var login = ""
        if let user = options.user {
            try await mustRun("htpasswd", ["-bc", "\(run)/passwords", user.name, user.password])
            login = "auth_basic test; auth_basic_user_file \"\(run)/passwords\";"
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \"\(run)/\($0)\";"
        }
        try Files.write(
            """
            load_module \(module);
            daemon off;
            pid "\(run)/pid";
            error_log "\(run)/server.log";
            \(Build.isRoot ? "user www-data;" : "")
            events { worker_connections 256; }
            http {
              log_format requests '$status $body_bytes_sent "$http_range" "$request"';
              access_log "\(run)/access.log" requests;
              types { text/plain txt; image/jpeg jpg; application/pdf pdf; }
              default_type application/octet-stream;
              \(temporary.joined(separator: "\n  "))
              client_max_body_size 0;
              keepalive_requests 1000000;
              dav_ext_lock_zone zone=locks:1m;
              server {
                listen 127.0.0.1:\(port);
                root "\(data)";
                location / {
                  \(login)
                  dav_methods PUT DELETE MKCOL COPY MOVE;
                  dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
                  dav_ext_lock zone=locks;
                  autoindex on;
                }
              }
            }

            """, to: "\(run)/nginx.conf")
        return try ChildProcess(
            program, ["-e", "\(run)/server.log", "-c", "\(run)/nginx.conf"], output: "\(run)/server.log",
            errors: "\(run)/server.log")
    }
}
