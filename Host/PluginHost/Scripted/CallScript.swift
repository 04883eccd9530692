package import CLarder

/// What a scripted host makes of an instance's calls. All functions are called on the thread that makes the calls.
package protocol CallScript: AnyObject, Sendable {
    /// The number of bytes by which each policy that is lent is larger than this version's struct, a multiple of 8.
    var policyGrowth: Int { get }

    /// Returns the status with which a service's function is to fail in place of its work; nil if it does its work.
    func failure(of service: StaticString) -> larder_status?

    /// Notes that a call into the host was refused.
    func refused(_ service: StaticString, _ status: larder_status)

    /// Notes that the plugin asked for a service that its description does not name.
    func lacks(_ service: String)

    /// Notes a line of the plugin for the log.
    func said(_ level: UInt32, _ text: String)

    /// Notes the reason that the plugin gave for a failure.
    func failed(_ status: larder_status, because reason: String)

    /// Notes that a call into the plugin begins.
    func begins()

    /// Notes that a call into the plugin returned.
    func returned(_ call: ReturnedCall)
}

/// A call into a plugin that returned.
package struct ReturnedCall {
    /// The name of the call, such as `performAction`.
    package var name: StaticString
    /// The path of the item or the id of the loop that the call was about; nil if it was about neither.
    package var subject: String?
    /// The status that the plugin returned.
    package var status: larder_status
    /// Whether the plugin may return this status.
    package var isKnown: Bool
}
