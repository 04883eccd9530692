import Model

extension HintSet {
    /// The hints for everything, since events that happened while nobody listened are unknown.
    static let everything: HintSet = [.items, .shares, .account]

    /// Creates the hints for an event of OpenCloud's stream.
    init(streamEvent name: String) {
        switch name.prefix(while: { $0 != "-" }) {
        case "postprocessing", "item", "folder", "file": self = .items
        case "share", "link": self = .shares
        case "space": self = [.shares, .account]
        default: self = .account
        }
    }

    /// Creates the hints for a type of Nextcloud's activities.
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
