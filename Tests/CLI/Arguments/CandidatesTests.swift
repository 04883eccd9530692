import Testing

@testable import larder

@Suite struct CandidatesTests {
    @Test("what a shell would carry out or take apart in a name is escaped")
    func escaped() {
        let name = "/a b/$(rm -rf ~)`x`é:\\"
        #expect(Candidates.escaped(name, for: "bash") == "/a\\ b/\\$\\(rm\\ -rf\\ \\~\\)\\`x\\`é\\:\\\\")
        #expect(Candidates.escaped(name, for: "zsh") == "/a b/$(rm -rf ~)`x`é\\:\\\\")
        #expect(Candidates.escaped(name, for: "fish") == name)
    }
}
