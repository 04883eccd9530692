/* The parts of the benchmarks that use SQLite alone. */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

/* The result of a pass over rows. */
typedef struct loop_sum {
    int64_t rows;
    /* The sum of the lengths and first bytes of texts, and of numbers, so that every value is read. */
    int64_t sum;
} loop_sum;

/* Runs statements on a database. Returns null, or the reason of the failure, which is valid until the next call. */
const char *loop_run(const char *database, const char *sql);

/* Steps one statement to its end. Reads a text and two numbers of each row, from the given columns: the data that a
 * plugin gets if it requests three fields. Returns null, or the reason of the failure, which is
 * valid until the next call. */
const char *loop_read(const char *database, const char *sql, const int32_t *columns, loop_sum *out);

#endif
