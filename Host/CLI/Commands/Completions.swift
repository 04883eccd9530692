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
    @Argument(help: "bash, zsh or fish.", completion: .list(CompletionShell.allCases.map(\.rawValue))) var shell: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        guard let shell = CompletionShell(rawValue: shell) else {
            throw Failure(
                .usage, "there are no completions for `\(Text.visible(shell))`", hint: "name bash, zsh or fish")
        }
        console.print(Self.adapted(Larder.completionScript(for: shell)))
        return []
    }

    /// Returns the generated script without the space behind a folder, below which the person goes on.
    private static func adapted(_ script: String) -> String {
        let bash = "done < <(IFS=$'\\n' compgen \"${@}\" -- \"${cur}\")"
        let zsh = "_describe -V '' non_empty_completions -- empty_completions"
        let noSpace = """
            if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
            """
        let folder = """
            if [[ ${#non_empty_completions} == 1 && ${non_empty_completions[1]} == */ ]]; then
                compadd -S '' -- "${(@)${(@)non_empty_completions//\\\\:/:}//\\\\\\\\/\\\\}"
                return
            fi
            """
        return script.replacing(bash, with: "\(bash)\n\(noSpace)").replacing(zsh, with: "\(folder)\n\(zsh)")
    }
}
