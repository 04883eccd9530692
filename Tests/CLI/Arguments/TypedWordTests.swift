import Testing

@testable import larder

@Suite struct TypedWordTests {
    @Test("a word is read without the shell's quoting, and its open quotes are known")
    func read() {
        let words: [(String, String, TypedWord.Quotes)] = [
            (#"/a\ b\$"#, "/a b$", .none), (#"'/a\$"#, #"/a\$"#, .single), (#""/a\$'"#, "/a$'", .double),
            (#"'/a'"b""#, "/ab", .none), (#"/a"b"#, "/ab", .inside), (#"$'/a"#, "$/a", .inside),
            ("'\u{301}/a", "\u{301}/a", .single), (#"/a\"#, "/a", .none),
        ]
        for (typed, meaning, quotes) in words {
            let word = TypedWord(typed)
            #expect(word.meaning.unicodeScalars.elementsEqual(meaning.unicodeScalars), "\(typed)")
            #expect(word.quotes == quotes, "\(typed)")
        }
    }

    @Test("what bash would carry out or take apart in a name is escaped, as the quotes that are open have it")
    func forms() {
        let name = "/a b/$(rm -rf ~)`x`é:\\'\"'\u{301}"
        #expect(
            TypedWord("/a").form(of: name)
                == #"/a\ b/\$\(rm\ -rf\ \~\)\`x\`é\:\\\'\"\'"# + "\u{301}")
        #expect(TypedWord("'/a").form(of: name) == #"/a b/$(rm -rf ~)`x`é:\'\''"'\''"# + "\u{301}")
        #expect(TypedWord("\"/a").form(of: name) == #"/a b/\$(rm -rf ~)\`x\`é:\\'\"'"# + "\u{301}")
        #expect(TypedWord("'/").form(of: "/a'") == #"/a'\'''"# && TypedWord("\"/").form(of: "/a\"") == #"/a\"""#)
        #expect(TypedWord("\"/").form(of: "/a!b") == nil && TypedWord("/a\"b").form(of: "/ab") == nil)
        #expect(TypedWord("~/a").form(of: "~/a$b") == #"~/a\$b"# && TypedWord("\\~").form(of: "~/a") == #"\~/a"#)
    }
}
