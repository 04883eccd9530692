import ArgumentParser

// The commands that have subcommands. Each has a folder, with a file for a subcommand.

struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Add, list, verify and remove accounts.",
        subcommands: [AccountAdd.self, AccountList.self, AccountVerify.self, AccountRemove.self])
}

struct CalendarCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calendar", abstract: "Show the calendars that Larder has cached.",
        subcommands: [CalendarList.self, CalendarObjects.self])
}

struct ClaimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim", abstract: "Claim local copies, so that nothing removes them.",
        subcommands: [ClaimAdd.self, ClaimList.self, ClaimRemove.self])
}

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and check the config.",
        subcommands: [ConfigShow.self, ConfigValidate.self])
}

struct IssueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue", abstract: "List and resolve issues, which wait for a person.",
        subcommands: [IssueList.self, IssueResolve.self])
}

struct LoopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "loop", abstract: "List, enable and disable event loops, and poll the server now.",
        subcommands: [LoopList.self, LoopPoll.self, LoopEnable.self, LoopDisable.self])
}

struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "List plugins, turn them on and off, watch them; begin, try and check your own.",
        subcommands: [
            PluginList.self, PluginInfo.self, PluginWhy.self, PluginEnable.self, PluginDisable.self, PluginRetry.self,
            PluginNew.self, PluginTry.self, PluginValidate.self, PluginDev.self, PluginTrace.self, PluginValues.self,
            PluginRecords.self,
        ])
}

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "List, add, change, remove and run item policies, and undo changes of policies.",
        subcommands: [
            PolicyAdd.self, PolicyList.self, PolicyUpdate.self, PolicyRemove.self, PolicyUndo.self, PolicyRedo.self,
            PolicyHistoryList.self, PolicyRun.self,
        ])
}

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

struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Show the shares by me and with me.", subcommands: [ShareList.self])
}

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "List, cancel and retry sync records.",
        subcommands: [SyncList.self, SyncCancel.self, SyncRetry.self])
}
