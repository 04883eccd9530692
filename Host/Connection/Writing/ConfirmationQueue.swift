import Model

/// The questions what the server holds after uploads. Where several are asked about one folder, the first one goes out
/// alone, and one listing of the folder answers those that come meanwhile. A value without I/O.
struct ConfirmationQueue: Sendable {
    typealias Number = Int

    /// What whoever asks does next.
    enum Step: Sendable {
        /// To ask for the own path, or for all of these together, and then to call ``end(_:_:)``.
        case ask(together: [Number: ItemPath])
        /// To ask for the own path.
        case askAlone
        case answered(HeldItem)
    }

    private struct Question: Sendable {
        var path: ItemPath
        /// What is to be done; nil as long as it waits.
        var step: Step?
    }

    private var questions: [Number: Question] = [:]
    /// The folders about which somebody asks, with those that wait for it in their order.
    private var folders: [ItemPath: [Number]] = [:]
    private var last = 0

    /// The number of questions from which on they are asked together.
    static let several = 3
    /// The most entries of the folder for each question that are worth one listing.
    static let mostEntries = 20
    /// The time that an upload may have waited for its question, and still wait for a listing. After a second the server's
    /// clock proves nothing any more.
    static let longestWait = Duration.milliseconds(300)

    /// Whether nobody asks.
    var isEmpty: Bool { questions.isEmpty && folders.isEmpty }

    /// Adds a question.
    mutating func begin(_ path: ItemPath) -> Number {
        last += 1
        questions[last] = Question(path: path)
        if folders[path.parent] == nil {
            folders[path.parent] = []
            questions[last]?.step = .ask(together: [:])
        } else {
            folders[path.parent]?.append(last)
        }
        return last
    }

    /// Whether a question goes on.
    func isReady(_ number: Number) -> Bool { questions[number]?.step != nil }

    /// Removes a question that goes on.
    mutating func take(_ number: Number) -> Step { questions.removeValue(forKey: number)?.step ?? .askAlone }

    /// Has the questions that wait for an answer go on.
    /// - Parameter answers: The answers. Who gets none asks alone.
    mutating func answer(_ together: [Number: ItemPath], _ answers: [ItemPath: HeldItem] = [:]) {
        for (number, path) in together where questions[number] != nil {
            questions[number]?.step = answers[path].map { .answered($0) } ?? .askAlone
        }
    }

    /// Notes that whoever asked about a folder is done. The first one of those that wait asks for them all.
    mutating func end(_ folder: ItemPath) {
        let waiting = (folders[folder] ?? []).filter { questions[$0] != nil }
        guard let next = waiting.first else {
            folders[folder] = nil
            return
        }
        folders[folder] = []
        let together = waiting.dropFirst().compactMap { number in questions[number].map { (number, $0.path) } }
        questions[next]?.step = .ask(together: Dictionary(uniqueKeysWithValues: together))
    }

    /// Removes a question that is not asked any more.
    mutating func leave(_ number: Number) {
        guard let question = questions.removeValue(forKey: number), case .ask(let together)? = question.step else {
            return
        }
        answer(together)
        end(question.path.parent)
    }
}
