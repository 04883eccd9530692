import ArgumentParser
import Model
import Warehouse

struct ProjectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project", abstract: "Store projects: steps with undo and redo, data, and assets.",
        discussion: "Projects are kept in the account's vault, or with --base in any folder, which needs no account.",
        subcommands: [
            ProjectCreate.self, ProjectList.self, ProjectShow.self, ProjectUpdate.self, ProjectAddStep.self,
            ProjectUndo.self, ProjectRedo.self, ProjectDuplicate.self, ProjectDelete.self, ProjectStep.self,
            ProjectSize.self, ProjectSetDate.self,
        ])
}
