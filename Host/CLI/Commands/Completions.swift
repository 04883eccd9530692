import ArgumentParser
import Core
import Model

struct Completions: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print a script that completes commands in bash, zsh or fish.",
        discussion: """
            For bash, write it to ~/.local/share/bash-completion/completions/larder; for zsh, to the file _larder in a \
            folder of $fpath; for fish, to ~/.config/fish/completions/larder.fish. Paths, policies and issues come \
            from the database, without network.
            """)

    @OptionGroup var global: GlobalOptions
    /// What the script for bash asks for where a file of this machine is wanted.
    @Option(help: .hidden, completion: .localFile) var file: String?
    @Argument(help: "bash, zsh or fish.", completion: .list(CompletionShell.allCases.map(\.rawValue))) var shell: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        guard let shell = CompletionShell(rawValue: shell) else {
            throw Failure(
                .usage, "there are no completions for `\(Text.visible(shell))`", hint: "name bash, zsh or fish")
        }
        let script = Larder.completionScript(for: shell)
        console.write(Array(Self.adapted(script, for: shell).utf8), endingLine: true)
        return []
    }

    /// Returns the generated script with what it lacks: no space behind a folder, below which the person goes on, and no
    /// way for a name to be carried out.
    private static func adapted(_ script: String, for shell: CompletionShell) -> String {
        switch shell {
        case .bash: forBash(script)
        case .zsh: forZsh(script)
        default: script
        }
    }

    /// Returns the script for bash, with candidates that are inserted as `larder` prints them.
    ///
    /// Bash expands the words of `compgen -W`, commands included. With `-o filenames` it looks for a file of the
    /// candidate's name, expands the name if there is none, and quotes it in part (bash 5.2).
    private static func forBash(_ script: String) -> String {
        let names = """
            __larder_add_names() {
                local name
                while IFS='' read -r name; do
                    if [[ -n "${name}" ]]; then COMPREPLY+=("${name}"); fi
                done <<< "${1}"
                if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
            }

            __larder_custom_complete() {
            """
        let call = "__larder_custom_complete ---completion"
        let files = call + #" completions -- --file "${COMP_CWORD}" "$(__larder_cursor_index_in_current_word)""#
        return script.replacing("__larder_custom_complete() {", with: names)
            .replacing("__larder_add_completions -W \"$(\(call)", with: "__larder_add_names \"$(\(call)")
            .replacing("__larder_add_completions -f\n", with: "__larder_add_names \"$(\(files))\"\n")
            .replacing("complete -o filenames -F", with: "complete -F")
    }

    /// Returns the script for zsh, in which exclamation marks are escaped too. Without it zsh replaces such a name by an
    /// earlier command, and carries that out.
    private static func forZsh(_ script: String) -> String {
        let describe = "_describe -V '' non_empty_completions -- empty_completions"
        let folder = """
            if [[ ${#non_empty_completions} == 1 && ${non_empty_completions[1]} == */ ]]; then
                compadd -S '' -- "${(@)${(@)non_empty_completions//\\\\:/:}//\\\\\\\\/\\\\}"
                return
            fi
            """
        return script.replacing(describe, with: "\(folder)\n\(describe)")
            .replacing("unsetopt aliases banghist", with: "unsetopt aliases")
    }
}
