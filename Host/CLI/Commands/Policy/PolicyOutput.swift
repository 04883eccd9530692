import Core
import Model

extension Console {
    /// Prints a policy after a change of it.
    /// - Parameter what: the change as a phrase, such as `was changed`.
    func report(_ policy: ItemPolicy, _ what: String, _ global: GlobalOptions) {
        if global.isJSON {
            print(JSONValue(PolicyReport(policy)))
        } else {
            print(
                "policy \(Text.visible(policy.id.text)) \(what): the running host or the next `larder run` applies "
                    + "this")
        }
    }
}
