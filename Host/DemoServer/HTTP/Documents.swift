import HTTPTypes

/// What a server of the ownCloud family says of itself.
enum Documents {
    static let status = Answer(
        .ok, type: "application/json",
        text: """
            {"installed":true,"maintenance":false,"needsDbUpgrade":false,"version":"10.15.0.0",\
            "versionstring":"10.15.0","edition":"Community","productname":"Larder demo"}
            """)
}
