import Core
import Model

extension Console {
    /// What became of a policy.
    func report(_ policy: ItemPolicy, _ what: String, _ global: GlobalOptions) {
        if global.isJSON {
            print(JSONValue(policy, items: nil, bytes: nil))
        } else {
            print("policy \(Text.visible(policy.id.text)) \(what): the next `larder run` applies this")
        }
    }
}
