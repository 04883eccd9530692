import Glibc

/// The program that times the passes of processors over few and many items and prints a table. Each row has one figure
/// beside its limit.
@main struct Policies {
    static func main() async {
        do {
            var words = Array(CommandLine.arguments.dropFirst())
            func value(of option: String, _ missing: String) -> String {
                guard let place = words.firstIndex(of: option), place + 1 < words.count else { return missing }
                defer { words.removeSubrange(place...place + 1) }
                return words[place + 1]
            }
            let readers = value(of: "--readers", "")
            let pins = value(of: "--available-offline", "")
            let rounds = Int(value(of: "--rounds", "5")) ?? 0
            let items = Int(value(of: "--items", "1000000")) ?? 0
            let only = value(of: "--only", "match read languages change pins").split(separator: " ")
            guard !readers.isEmpty, !pins.isEmpty, rounds > 0, items >= 100_000, words.count == 1 else {
                print(
                    "usage: policies --readers FOLDER --available-offline LIBRARY "
                        + "[--rounds N] [--items N] [--only SET] FOLDER"
                )
                exit(64)
            }
            let names = ["C": "c", "C++": "cpp", "Rust": "rust", "Swift": "swift"]
            let bench = Bench(
                folder: words[0], readers: names.mapValues { "\(readers)/reader-\($0).so" }, availableOffline: pins,
                rounds: rounds, items: items)
            print("| what | items | figure | beside | limit | |")
            print("|---|---|---|---|---|---|")
            var isMissed = false
            for set in only {
                let rows =
                    switch set {
                    case "match": try await bench.fewMatch()
                    case "read": try await bench.allRead()
                    case "languages": try await bench.languages()
                    case "change": try await bench.fewChange()
                    case "pins": try await bench.manyPins()
                    default: throw BenchmarkError("there is no set \(set)")
                    }
                for row in rows {
                    print(row.text)
                    isMissed = isMissed || row.isMissed
                }
            }
            exit(isMissed ? 1 : 0)
        } catch {
            print("\(error)")
            exit(70)
        }
    }
}

/// Returns a number with enough digits that small numbers can be compared.
func shown(_ number: Double) -> String {
    let scale = number >= 100 ? 1.0 : number >= 10 ? 10.0 : 1_000.0
    let rounded = (number * scale).rounded() / scale
    return scale == 1 ? "\(Int(rounded))" : "\(rounded)"
}

/// Returns the processor time that this process has used on all threads. The work of other processes is not measured.
func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

func median(_ times: [Duration]) -> Double {
    let sorted = times.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2] / .milliseconds(1)
}
