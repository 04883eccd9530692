import HTTPTypes

/// What a server of the ownCloud family says of itself.
enum Documents {
    static func status(isInMaintenance: Bool) -> Answer {
        Answer(
            .ok, type: "application/json",
            text: """
                {"installed":true,"maintenance":\(isInMaintenance),"needsDbUpgrade":false,"version":"10.15.0.0",\
                "versionstring":"10.15.0","edition":"Community","productname":"Larder demo"}
                """)
    }

    static var maintenance: Answer {
        var answer = Answer(.serviceUnavailable, type: "text/plain", text: "System in maintenance mode.")
        answer.fields[named: "Retry-After"] = "120"
        return answer
    }
}
