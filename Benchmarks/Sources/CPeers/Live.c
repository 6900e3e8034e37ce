// SPDX-License-Identifier: Apache-2.0

#include <sqlite3.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "PeerSupport.h"

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static uint64_t median(uint64_t *times, size_t count) {
    qsort(times, count, sizeof *times, compare);
    return count == 0 ? 0 : times[count / 2];
}

static int run_all(sqlite3_stmt *statement, uint64_t *hash) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(statement); column += 1) {
            *hash = bench_hash_value(*hash, (uint64_t)sqlite3_column_int64(statement, column));
        }
    }
    int reset = sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : reset;
}

#define TRY(call)                                                                          \
    do {                                                                                   \
        if ((call) != SQLITE_OK) {                                                         \
            bench_fail(result, "SQLite: %s in %s", sqlite3_errmsg(database), #call);       \
            goto end;                                                                      \
        }                                                                                  \
    } while (0)

void bench_sqlite_recount(
    const char *directory, const int64_t *ids, size_t samples, bench_recount *recount, bench_result *result
) {
    memset(result, 0, sizeof *result);
    char path[4096];
    sqlite3 *database = NULL;
    sqlite3_stmt *update = NULL, *group = NULL, *top = NULL;
    uint64_t hash = bench_hash_seed;
    uint64_t *times = (uint64_t *)calloc(3 * samples + 1, sizeof *times);
    if (times == NULL || (size_t)snprintf(path, sizeof path, "%s/items.sqlite", directory) >= sizeof path) {
        bench_fail(result, "no memory, or too long a path");
        goto end;
    }
    TRY(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    TRY(sqlite3_exec(
        database,
        "PRAGMA journal_mode = WAL; PRAGMA mmap_size = 1073741824; PRAGMA cache_size = -65536; PRAGMA synchronous = OFF",
        NULL, NULL, NULL));
    TRY(sqlite3_prepare_v2(database, "UPDATE item SET itemType = (itemType + 1) % 16 WHERE id = ?", -1, &update, NULL));
    TRY(sqlite3_prepare_v2(database, "SELECT itemType, count(*) FROM item GROUP BY itemType", -1, &group, NULL));
    TRY(sqlite3_prepare_v2(
        database, "SELECT * FROM item WHERE itemType = 3 ORDER BY createdAt DESC LIMIT 100", -1, &top, NULL));
    for (size_t sample = 0; sample < samples; sample += 1) {
        uint64_t start = bench_now();
        sqlite3_bind_int64(update, 1, ids[sample]);
        TRY(run_all(update, &hash));
        uint64_t committed = bench_now();
        TRY(run_all(group, &hash));
        uint64_t counted = bench_now();
        TRY(run_all(top, &hash));
        times[sample] = committed - start;
        times[samples + sample] = counted - committed;
        times[2 * samples + sample] = bench_now() - counted;
    }
    recount->commit = median(times, samples);
    recount->group_count = median(times + samples, samples);
    recount->top = median(times + 2 * samples, samples);
    result->checksum = hash;
end:
    sqlite3_finalize(update);
    sqlite3_finalize(group);
    sqlite3_finalize(top);
    sqlite3_close(database);
    free(times);
}

size_t bench_heap_in_use(void) {
#ifdef __GLIBC__
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

void bench_trim_heap(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
