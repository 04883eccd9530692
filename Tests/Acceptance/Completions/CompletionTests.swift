import DemoServer
import TestServer
import TestSupport
import Testing

/// Completions, in the shells themselves.
@Suite(.serialized) struct CompletionTests {
    /// Types into an interactive shell, presses Tab, and prints whether the wanted text appears within five minutes.
    private static let driver = """
        import os, pty, select, sys, time
        shell, setup, line, want = sys.argv[1:5]
        pid, terminal = pty.fork()
        if pid == 0: os.execvp(shell.split()[0], shell.split())
        shown = b""
        def wait(text):
            global shown
            end = time.monotonic() + 300
            while text not in shown and time.monotonic() < end:
                if select.select([terminal], [], [], 1)[0]:
                    try: shown += os.read(terminal, 4096)
                    except OSError: break
        os.write(terminal, (setup + "\\necho REA''DY\\n").encode())
        wait(b"READY")
        shown = b""
        os.write(terminal, line.encode() + b"\\t")
        wait(want.encode())
        print("found" if want.encode() in shown else repr(shown))
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        """

    private static let known = [
        (shell: "bash --norc -i", setup: "source <(larder completions bash)"),
        (
            shell: "zsh -f -i",
            setup: "autoload -U compinit; compinit -u; source <(larder completions zsh); compdef _larder larder"
        ),
        (shell: "fish -N -i", setup: "larder completions fish | source"),
    ]

    @Test(
        "bash, zsh and fish complete commands, paths folder by folder, policies and plugins; a name is never carried out",
        arguments: known)
    func completes(shell: String, setup: String) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for path in ["/Photos/cat.jpg", "/Photos/$(touch evil)", "/My Docs/x.txt"] {
                    server.tree.put(path, "x")
                }
                let account = try Account(in: folder, server)
                #expect(try await account.larder("run", "--once").exitCode == 0)
                let added = try await account.larder(
                    "policy", "add", "--kind", "availableOffline", "--where", "path == \"/x\"", "--id", "keep-x")
                #expect(added.exitCode == 0, "\(added.summary)")
                try await mustRun("mkdir", ["\(folder)/bin"])
                try await mustRun("ln", ["-s", try Build.larder, "\(folder)/bin/larder"])
                for (line, end) in [
                    ("larder pi", "n"), ("larder pin /Ph", "otos/"), ("larder stat /Photos/c", "at.jpg"),
                    ("larder stat /Photos/\t", "touch"), ("larder policy remove keep", "-x"),
                    ("larder plugin why vac", "uum"),
                ] {
                    let result = try await run(
                        "python3", ["-c", Self.driver, shell, setup, line, end],
                        environment: [
                            "HOME": "\(folder)/home", "PATH": "\(folder)/bin:/usr/bin:/bin", "TERM": "xterm",
                            "PS1": "> ", "LC_ALL": "C.UTF-8", "LARDER_CONFIG": account.larder.config,
                            "PWD": folder,
                        ], timeout: .seconds(900))
                    #expect(result.output == "found\n", "\(shell): \(line)\n\(result.summary)")
                }
                #expect(!Files.exists("\(folder)/home/evil") && !Files.exists("evil"))
            }
        }
    }

    @Test("`completions` refuses a shell that it does not know")
    func unknown() async throws {
        try await withTemporaryFolder { folder in
            let larder = LarderCommand(config: "\(folder)/none.yaml", home: folder)
            let unknown = try await larder("completions", "tcsh")
            let known = try await larder("completions", "bash")
            #expect(unknown.exitCode == 64 && known.exitCode == 0, "\(unknown.summary)\(known.summary)")
        }
    }
}
