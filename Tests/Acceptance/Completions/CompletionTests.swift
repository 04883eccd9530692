import DemoServer
import Model
import TestServer
import TestSupport
import Testing

/// Completions, in the shells themselves.
@Suite(.serialized) struct CompletionTests {
    /// Types lines into one interactive shell, each with Tab and Enter behind it, and compares the arguments that
    /// `larder` then gets with the wanted ones. Prints each line that differs.
    private static let driver = """
        import json, os, pty, select, sys, time
        os.chdir(os.environ["HOME"])
        shell, setup, lines = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
        pid, terminal = pty.fork()
        if pid == 0: os.execvp(shell.split()[0], shell.split())
        shown = b""
        def wait(is_over):
            global shown
            end = time.monotonic() + 120
            while not is_over() and time.monotonic() < end:
                if select.select([terminal], [], [], 0.01)[0]:
                    try: shown += os.read(terminal, 65536)
                    except OSError: break
        os.write(terminal, (setup + "\\necho REA''DY\\n").encode())
        wait(lambda: b"READY" in shown)
        for line, want in lines:
            shown = b""
            os.write(terminal, line.encode() + b"\\t\\n")
            wait(lambda: os.path.exists("arguments"))
            try: got = open("arguments", "rb").read().decode().split("\\0")[:-1]
            except OSError as error: got = None
            if got != want: print("%r gives %r, not %r: %r" % (line, got, want, shown))
            if got is None: break
            os.unlink("arguments")
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        """

    /// What stands for `larder` in the shell: it answers completions, and writes down the arguments of anything else.
    private static func standIn(for larder: String) -> String {
        """
        #!/bin/sh
        case "$1" in
        ---completion | completions) exec '\(larder)' "$@" ;;
        esac
        printf '%s\\0' "$@" > "$HOME/arguments.new"
        mv "$HOME/arguments.new" "$HOME/arguments"
        """
    }

    private static let known = [
        // The first command is what a name with an exclamation mark would bring back.
        (shell: "bash --norc -i", setup: "touch history; source <(larder completions bash)"),
        (
            shell: "zsh -f -i",
            setup: """
            touch history; autoload -U compinit; compinit -u -D; source <(larder completions zsh); \
            compdef _larder larder
            """
        ),
        (shell: "fish -N -i", setup: "touch history; larder completions fish | source"),
    ]

    /// Names on the server that a shell could carry out, take apart or replace. Each begins with a letter of its own.
    private static let hostile = [
        "/a$(touch ran)`touch ran`(touch ran)", "/b${x:=`touch ran`}<(touch ran)=ls", "/c';touch ran;'\"$(touch ran)\"",
        "/d!touch!$\\", "/e*?[a-z]{a,b}~#%s^:x(e:touch ran:)", "/f\\$(touch ran)'\u{301};touch ran;'\"\u{301}", "/-rf",
        "/~root", "/g$[$(touch ran)]|touch ran&touch ran>ran",
    ]
    /// Names that are not offered.
    private static let left = ["/n\n$(touch ran)", "/o\u{9b}2J", "/p\u{202e}gpj.exe"]

    @Test(
        "bash, zsh and fish complete commands, paths folder by folder, policies, plugins and files; of a name nothing is carried out",
        arguments: known)
    func completes(shell: String, setup: String) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for path in Self.hostile + Self.left + ["/Photos/cat.jpg", "/h$(touch ran) x/y"] {
                    server.tree.put(path, "x")
                }
                let account = try Account(in: folder, server)
                _ = try await account.larder("run", "--once")
                let added = try await account.larder(
                    "policy", "add", "--kind", "availableOffline", "--where", "path == \"/x\"", "--id", "keep-x")
                #expect(added.exitCode == 0, "\(added.summary)")
                try Files.write(Self.standIn(for: try Build.larder), to: "\(folder)/bin/larder", mode: 0o755)
                try Files.write("", to: "\(folder)/home/mine$(touch ran)")
                var lines: [[[String]]] = [
                    [["larder pi"], ["pin"]], [["larder pin /Ph"], ["pin", "/Photos/"]],
                    [["larder stat /Photos/c"], ["stat", "/Photos/cat.jpg"]],
                    [["larder policy remove keep"], ["policy", "remove", "keep-x"]],
                    [["larder plugin why vac"], ["plugin", "why", "vacuum"]],
                    [["larder plugin values vac"], ["plugin", "values", "vacuum"]],
                    [["larder plugin trace vac"], ["plugin", "trace", "vacuum"]],
                    [["larder --config m"], ["--config", "mine$(touch ran)"]],
                    [["larder stat /h"], ["stat", "/h$(touch ran) x/"]],
                ]
                lines += Self.hostile.map { [["larder stat " + $0.prefix(2)], ["stat", $0]] }
                lines += Self.left.map { [["larder stat " + $0.prefix(2)], ["stat", String($0.prefix(2))]] }
                if !shell.hasPrefix("fish") {
                    lines.append([["larder stat -r"], ["stat", "-r"]])
                    for quote in ["'", "\""] {
                        lines += [0, 2, 5].map { Self.hostile[$0] }.map {
                            [["larder stat " + quote + $0.prefix(2)], ["stat", $0]]
                        }
                    }
                }
                let typed = JSONValue.array(
                    lines.map { .array([.string($0[0][0]), .array($0[1].map { .string($0) })]) })
                let result = try await run(
                    "python3", ["-c", Self.driver, shell, setup, typed.text],
                    environment: [
                        "HOME": "\(folder)/home", "PATH": "\(folder)/bin:/usr/bin:/bin", "TERM": "xterm",
                        "PS1": "> ", "LC_ALL": "C.UTF-8", "LARDER_CONFIG": account.larder.config,
                    ], timeout: .seconds(900))
                #expect(result.output == "", "\(shell)\n\(result.summary)")
                let made = try Files.names(in: "\(folder)/home").filter { !$0.hasPrefix(".") }
                // The folder of the host's socket is there too.
                #expect(made == ["history", "larder", "mine$(touch ran)"])
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
