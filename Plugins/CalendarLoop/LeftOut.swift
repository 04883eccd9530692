import LarderSDK

/// The objects of an answer that cannot be kept because of their addresses.
struct LeftOut {
    private var count = 0
    private var first = ""

    mutating func note(_ response: DAVResponse, isObject: Bool) {
        guard isObject else { return }
        if count == 0 { first = String(response.href.prefix(200)) }
        count += 1
    }

    /// Names them in the log, in one line.
    func tell(_ log: Host.Log?, of calendar: String) {
        guard count > 0 else { return }
        let what = count == 1 ? "an object" : "\(count) objects"
        log?.warning(
            "\(what) of the calendar \(calendar) cannot be kept, since the address ends in a slash or is longer than "
                + "4096 bytes: \(first)" + (count == 1 ? "" : ", …"))
    }
}
