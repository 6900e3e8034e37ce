// SPDX-License-Identifier: Apache-2.0

// What the live rows need of C: SQLite counting again after each commit, and the heap's size. Included by CPeers.h.

#ifndef CLIVE_H
#define CLIVE_H

/// Medians in nanoseconds, from the commit of a change of one item to the answer.
typedef struct {
    uint64_t group_count;
    uint64_t top;
    uint64_t commit;
} bench_recount;

/// Moves `samples` items of SQLite's filled table to another type, a commit each, and asks after each for the number of items
/// of each type and for the newest 100 of one type, as a program does that only knows that something changed.
void bench_sqlite_recount(
    const char *directory, const int64_t *ids, size_t samples, bench_recount *recount, bench_result *result);

/// Bytes that the program has allocated and not freed; 0 where the system does not tell.
size_t bench_heap_in_use(void);

/// Gives memory that was freed back to the system, where it can be told to, so that the memory's growth can be seen.
void bench_trim_heap(void);

#endif
