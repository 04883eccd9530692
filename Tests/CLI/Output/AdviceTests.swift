import Logging
import Model
import TestSupport
import Testing

@testable import larder

@Suite struct AdviceTests {
    private static let sentences: [(Advice, String)] = [
        (.text("free some space"), "free some space"),
        (.both(.text("a"), .both(.listIssues, .text("b"))), "a; `larder issue list` shows all; b"),
        (
            .checkCredentials,
            "check username, password or token in the config; `larder status` shows the time of the next try"
        ),
        (
            .changesStayQueued(3, isAtWork: true),
            "3 changes stay queued, for the running host; `larder sync list` shows them"
        ),
        (.runFirst, "Run `larder run --once` first"),
        (.runToUpgrade, "Run `larder run --once`, which upgrades it"),
        (.resume, "`larder resume` lets it go on"),
        (.runQueued, "the next `larder run` continues the queued actions"),
        (.traceCalls, "`larder run --once --trace FILE` writes down each call"),
        (
            .restoreDatabase,
            "`larder check --restore` replaces it by the newest sound backup; the local copies stay"
        ),
        (.restoreDatabaseAgain, "Run `larder check --restore` again"),
        (.listItems, "`larder ls -r` lists what is known of the server"),
        (.listRemovedItems, "`larder ls -r --removed` lists what is known"),
        (.seeItems(in: ItemPath(unchecked: "/a b")), "See `larder ls /a\\ b`"),
        (.unpin(ItemPath(unchecked: "/a")), "`larder unpin /a` unpins it with everything below it"),
        (
            .unpin(ItemPath(unchecked: "/a$(x)'")),
            "`larder unpin /a\\$\\(x\\)\\'` unpins it with everything below it"
        ),
        (.showPolicy, "`larder policy list` shows it"),
        (.listPolicies, "`larder policy list` shows all"),
        (.listInternalPolicies, "`larder policy list --internal` shows all"),
        (.seePolicies, "See `larder policy list`"),
        (
            .seePoliciesCovering(ItemPath(unchecked: "/a")),
            "Nothing needs to be done; `larder policy list --path /a` shows what covers it"
        ),
        (.updatePolicy(named: "p"), "`larder policy update p` changes it"),
        (
            .updatePolicyByHistory(PolicyID("p")),
            "`larder policy update p` sets the values that you want; see `larder policy history`"
        ),
        (.removePolicy(PolicyID("p")), "`larder policy remove p` removes that policy"),
        (.seePolicyHistory, "`larder policy history` lists the changes"),
        (.seePolicyInHistory, "`larder policy history` shows what happened to the policy"),
        (
            .deletePolicyHistory(project: "P"),
            "`larder project delete P` deletes the history, and a new one is started"
        ),
        (
            .deletePolicyHistory(project: nil),
            "`larder project delete ID` deletes the history, and a new one is started"
        ),
        (.listClaims, "`larder claim list` shows all claims"),
        (.seeClaims, "See `larder claim list`"),
        (
            .getAfterClaim(on: ItemPath(unchecked: "/a")),
            "Get the file when the claim has ended; `larder claim list /a` shows the claim"
        ),
        (.removeClaim(ClaimID("c")), "Choose another id, or run `larder claim remove c` first"),
        (.listSyncRecords, "`larder sync list` shows all"),
        (.listIssues, "`larder issue list` shows all"),
        (.answerIssue(7), "Resolve issue 7; `larder issue list` shows its choices"),
        (.applyHeldRemovals(7), "`larder issue resolve 7 apply` removes them here; `wait` keeps them"),
        (.listLoops, "`larder loop list` shows all"),
        (.enableLoop(.core), "`larder loop enable core:core` enables it"),
        (.listPlugins, "`larder plugin list` says why"),
        (
            .explainPlugin(PluginID("org.larder.vacuum")),
            "the plugin is left out for ten minutes; `larder plugin why vacuum` tells more"
        ),
        (
            .disablePlugin(PluginID("org.larder.vacuum")),
            "the next start leaves the plugin out; `larder plugin disable vacuum` turns the plugin off"
        ),
        (.enablePlugin(library: "x.so"), "`larder plugin enable x.so` adds it to the config"),
        (
            .retryPlugin(PluginID("org.larder.vacuum"), isLeftOutForGood: true),
            "`larder plugin retry vacuum`, or another build of the plugin, lets it run again"
        ),
        (
            .retryPlugin(PluginID("a.b"), isLeftOutForGood: false),
            "`larder plugin retry a.b`, or another build of the plugin, lets it run again sooner"
        ),
    ]

    @Test("H1: advice names the command that does it")
    func sentences() {
        for (advice, sentence) in Self.sentences { #expect(advice.sentence == sentence) }
    }

    @Test("H9: root is told the line to type that carries the command out as another user")
    func otherUser() {
        #expect(Advice.command(as: "ada", ["larder", "pin", "/a b"]) == #"runuser -u ada -- larder pin /a\ b"#)
        #expect(
            Advice.command(as: "1007", ["larder", "ls"])
                == "setpriv --reuid=1007 --regid=1007 --clear-groups larder ls")
    }

    @Test("H1: advice is a sentence in the error's JSON, in a log and in a plugin's reason")
    func places() {
        #expect(
            JSONValue(error: Failure(.notFound, "m", hint: .listIssues)).text
                == #"{"error":{"code":"notFound","message":"m","hint":"`larder issue list` shows all"}}"#)
        let log = LineLogHandler(LogConfig(), console: Console())
        #expect(
            log.line(.error, "m", ["hint": .stringConvertible(Advice.listIssues)], at: Timestamp(seconds: 0))
                == #"1970-01-01T00:00:00Z error: m hint="`larder issue list` shows all""#)
        let report = PluginReport(
            id: PluginID("a.b"), name: "n", state: .refused, isolation: .inProcess, reason: "left out",
            advice: .retryPlugin(PluginID("a.b"), isLeftOutForGood: true))
        let reason = "left out; `larder plugin retry a.b`, or another build of the plugin, lets it run again"
        #expect(report.inWords.reason == reason && report.inWords.advice == nil)
    }
}
