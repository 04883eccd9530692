import HTTPTypes

/// The documents in which a server of the ownCloud family describes itself.
package enum Documents {
    package static func status(isInMaintenance: Bool = false) -> Answer {
        Answer(
            .ok, type: "application/json",
            text: """
                {"installed":true,"maintenance":\(isInMaintenance),"needsDbUpgrade":false,"version":"10.15.0.0",\
                "versionstring":"10.15.0","edition":"Community","productname":"Larder demo"}
                """)
    }
}
