import Model

/// The intents of a call, with what the limits count of them. A call may ask for many thousands.
struct AskedIntents {
    private(set) var all: [Intent] = []
    private(set) var actions = 0
    private(set) var uploads = 0
    /// The number of policies by which the intents make the policies more.
    private(set) var addedPolicies = 0

    var isEmpty: Bool { all.isEmpty }

    mutating func append(_ intent: Intent) {
        all.append(intent)
        if intent.change.isAction { actions += 1 }
        if intent.change.isUpload { uploads += 1 }
        switch intent.change {
        case .addPolicy: addedPolicies += 1
        case .removePolicy: addedPolicies -= 1
        default: break
        }
    }

    mutating func removeAll() {
        all.removeAll(keepingCapacity: true)
        (actions, uploads, addedPolicies) = (0, 0, 0)
    }
}
