/// The table that the history of policies needs. A released migration is never edited: every change is a new migration.
enum Schema004 {
    static let sql = """
        -- What happened to policies and is not in their history yet; a row is written in the transaction of the change itself.
        CREATE TABLE policyChanges (
          number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          -- Random: known again in the history even if the database was made anew.
          id TEXT NOT NULL,
          -- A JSON object.
          content TEXT NOT NULL
        ) STRICT;
        """
}
