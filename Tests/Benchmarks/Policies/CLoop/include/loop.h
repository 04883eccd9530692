/* What the benchmarks do with SQLite alone. */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

/* What a pass over rows came to. */
typedef struct loop_sum {
    int64_t rows;
    /* Of the lengths of texts, and of numbers, so that nothing is left out. */
    int64_t sum;
} loop_sum;

/* Runs statements on a database. Returns null, or why they failed, in memory that is good until the next call. */
const char *loop_run(const char *database, const char *sql);

/* Steps one statement to its end and reads of each row a text and two numbers, in these columns: what a plugin is
 * handed that asks for three fields. Returns null, or why it failed. */
const char *loop_read(const char *database, const char *sql, const int32_t *columns, loop_sum *out);

#endif
