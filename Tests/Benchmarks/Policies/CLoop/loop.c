#include "loop.h"

#include <sqlite3.h>
#include <string.h>

static char problem[512];

static const char *fails(sqlite3 *db) {
    strncpy(problem, sqlite3_errmsg(db), sizeof problem - 1);
    sqlite3_close(db);
    return problem;
}

const char *loop_run(const char *database, const char *sql) {
    sqlite3 *db;
    if (sqlite3_open(database, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return fails(db);
    sqlite3_close(db);
    return NULL;
}

const char *loop_read(const char *database, const char *sql, const int32_t *columns, loop_sum *out) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int code;
    out->rows = out->sum = 0;
    if (sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK
        || sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return fails(db);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(statement, columns[0]);
        out->sum += text ? sqlite3_column_bytes(statement, columns[0]) + text[0] : 0;
        for (int i = 1; i < 3; i++) {
            if (sqlite3_column_type(statement, columns[i]) != SQLITE_NULL)
                out->sum += sqlite3_column_int64(statement, columns[i]);
        }
        out->rows++;
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) return fails(db);
    sqlite3_close(db);
    return NULL;
}
