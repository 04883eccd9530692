import Model

extension HintSet {
    /// Everything: what happened while nobody listened is not known.
    static let everything: HintSet = [.items, .shares, .account]

    /// What an event of OpenCloud's stream concerns.
    init(streamEvent name: String) {
        switch name.prefix(while: { $0 != "-" }) {
        case "postprocessing", "item", "folder", "file": self = .items
        case "share", "link": self = .shares
        case "space": self = [.shares, .account]
        default: self = .account
        }
    }

    /// What a type of Nextcloud's activities concerns.
    init(activity type: String) {
        if type.hasPrefix("file") {
            self = .items
        } else if type.contains("share") || type == "public_links" {
            self = .shares
        } else {
            self = .account
        }
    }
}
