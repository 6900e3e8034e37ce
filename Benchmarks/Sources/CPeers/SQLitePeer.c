// SPDX-License-Identifier: Apache-2.0

// SQLite as a careful C program uses it: WAL, a mapped file, a large cache, one connection without mutexes, and
// statements that are prepared once and kept.

#include <sqlite3.h>
#include <stdlib.h>

#include "PeerSupport.h"

#define COLUMNS "id, name, itemType, price, createdAt, isActive, note"

typedef struct {
    bench_peer base;
    sqlite3 *database;
    sqlite3_stmt *begin;
    sqlite3_stmt *begin_immediate;
    sqlite3_stmt *commit;
    sqlite3_stmt *insert;
    sqlite3_stmt *get;
    sqlite3_stmt *top;
    sqlite3_stmt *scan;
    /// `IN` with as many parameters as a batch has; prepared when the first batch names its size.
    sqlite3_stmt *batch;
    size_t batch_size;
} sqlite_peer;

/// Leaves through the function's `failure` label, with the message in `result`.
#define TRY_CODE(call, expected)                                                              \
    do {                                                                                      \
        if (__builtin_expect((call) != (expected), 0)) {                                      \
            bench_fail(result, "SQLite: %s in %s", sqlite3_errmsg(peer->database), #call);    \
            goto failure;                                                                     \
        }                                                                                     \
    } while (0)

#define TRY(call) TRY_CODE(call, SQLITE_OK)

// MARK: Rows

static int run_statement(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    int reset = sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : reset;
}

/// Copies the current row. Returns 0 if it cannot be an item.
static inline int decode_row(sqlite3_stmt *row, bench_item *item) {
    item->id = sqlite3_column_int64(row, 0);
    const unsigned char *name = sqlite3_column_text(row, 1);
    int name_length = sqlite3_column_bytes(row, 1);
    item->item_type = sqlite3_column_int(row, 2);
    item->price = sqlite3_column_double(row, 3);
    item->created_at = sqlite3_column_int64(row, 4);
    item->is_active = (uint8_t)sqlite3_column_int(row, 5);
    const unsigned char *note = sqlite3_column_text(row, 6);
    int note_length = sqlite3_column_bytes(row, 6);
    if (name == NULL || note == NULL || name_length > BENCH_NAME_CAPACITY || note_length > BENCH_NOTE_CAPACITY) {
        return 0;
    }
    item->name_length = (uint8_t)name_length;
    memcpy(item->name, name, (size_t)name_length);
    item->note_length = (uint8_t)note_length;
    memcpy(item->note, note, (size_t)note_length);
    return 1;
}

static inline void take(const bench_item *item, bench_result *result) {
    result->checksum = bench_hash_value(result->checksum, bench_hash_item(item));
    result->rows += 1;
}

/// Steps through the rows of a bound statement, decodes and hashes them, and resets it. Returns SQLite's code.
static inline int take_rows(sqlite3_stmt *statement, bench_result *result) {
    bench_item item;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (!decode_row(statement, &item)) {
            sqlite3_reset(statement);
            return SQLITE_CORRUPT;
        }
        take(&item, result);
    }
    int reset = sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : reset;
}

// MARK: Operations

static void roll_back(sqlite_peer *peer) {
    if (!sqlite3_get_autocommit(peer->database)) {
        sqlite3_exec(peer->database, "ROLLBACK", NULL, NULL, NULL);
    }
}

static void insert_seq_bulk(sqlite_peer *peer, const bench_workload *workload, bench_result *result) {
    sqlite3_stmt *insert = peer->insert;
    uint64_t start = bench_now();
    TRY(run_statement(peer->begin_immediate));
    for (size_t index = 0; index < workload->item_count; index += 1) {
        const bench_item *item = &workload->items[index];
        sqlite3_bind_int64(insert, 1, item->id);
        sqlite3_bind_text(insert, 2, item->name, item->name_length, SQLITE_STATIC);
        sqlite3_bind_int(insert, 3, item->item_type);
        sqlite3_bind_double(insert, 4, item->price);
        sqlite3_bind_int64(insert, 5, item->created_at);
        sqlite3_bind_int(insert, 6, item->is_active);
        sqlite3_bind_text(insert, 7, item->note, item->note_length, SQLITE_STATIC);
        TRY(run_statement(insert));
    }
    TRY(run_statement(peer->commit));
    result->nanoseconds = bench_now() - start;
    result->rows = workload->item_count;
    return;
failure:
    roll_back(peer);
}

static void get_random(sqlite_peer *peer, const bench_workload *workload, bench_result *result) {
    uint64_t start = bench_now();
    TRY(run_statement(peer->begin));
    for (size_t index = 0; index < workload->lookup_count; index += 1) {
        sqlite3_bind_int64(peer->get, 1, workload->lookup_ids[index]);
        TRY(take_rows(peer->get, result));
    }
    TRY(run_statement(peer->commit));
    result->nanoseconds = bench_now() - start;
    return;
failure:
    roll_back(peer);
}

/// Without an explicit transaction, each statement has a read transaction of its own.
static void get_random_txn(sqlite_peer *peer, const bench_workload *workload, bench_result *result) {
    uint64_t start = bench_now();
    for (size_t index = 0; index < workload->lookup_count; index += 1) {
        sqlite3_bind_int64(peer->get, 1, workload->lookup_ids[index]);
        TRY(take_rows(peer->get, result));
    }
    result->nanoseconds = bench_now() - start;
failure:
    return;
}

static int prepare_batch(sqlite_peer *peer, size_t size) {
    if (peer->batch != NULL && peer->batch_size == size) {
        return SQLITE_OK;
    }
    sqlite3_finalize(peer->batch);
    peer->batch = NULL;
    static const char head[] = "SELECT " COLUMNS " FROM item WHERE id IN (";
    char *text = (char *)malloc(sizeof head + 2 * size + 1);
    if (text == NULL) {
        return SQLITE_NOMEM;
    }
    size_t length = sizeof head - 1;
    memcpy(text, head, length);
    for (size_t index = 0; index < size; index += 1) {
        text[length++] = '?';
        text[length++] = index + 1 == size ? ')' : ',';
    }
    text[length] = 0;
    int code = sqlite3_prepare_v3(
        peer->database, text, (int)length + 1, SQLITE_PREPARE_PERSISTENT, &peer->batch, NULL);
    free(text);
    peer->batch_size = size;
    return code;
}

/// Places of the IDs of a batch: SQLite answers in its own order, the caller wants the batch's.
typedef struct {
    int64_t id;
    size_t place;
} batch_slot;

static inline size_t slot_of(int64_t id, unsigned shift) {
    return (size_t)(((uint64_t)id * UINT64_C(0x9E3779B97F4A7C15)) >> shift);
}

static void batch_get(sqlite_peer *peer, const bench_workload *workload, bench_result *result) {
    size_t size = workload->batch_size;
    unsigned bits = 1;
    while (((size_t)1 << bits) < 2 * size) {
        bits += 1;
    }
    size_t slot_count = (size_t)1 << bits, mask = slot_count - 1;
    unsigned shift = 64 - bits;
    batch_slot *slots = (batch_slot *)malloc(slot_count * sizeof *slots);
    bench_item *batch = (bench_item *)malloc(size * sizeof *batch);
    if (slots == NULL || batch == NULL) {
        bench_fail(result, "out of memory");
        goto failure;
    }
    TRY(prepare_batch(peer, size));
    sqlite3_stmt *statement = peer->batch;
    uint64_t start = bench_now();
    for (size_t index = 0; index < workload->batch_count; index += 1) {
        const int64_t *ids = workload->batch_ids + index * size;
        // IDs begin at 1, so 0 marks a free slot, and a place where nothing was found.
        memset(slots, 0, slot_count * sizeof *slots);
        for (size_t place = 0; place < size; place += 1) {
            size_t slot = slot_of(ids[place], shift);
            while (slots[slot].id != 0) {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (batch_slot){ids[place], place};
            batch[place].id = 0;
            sqlite3_bind_int64(statement, (int)place + 1, ids[place]);
        }
        int code;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            int64_t id = sqlite3_column_int64(statement, 0);
            size_t slot = slot_of(id, shift);
            while (slots[slot].id != id) {
                slot = (slot + 1) & mask;
            }
            if (!decode_row(statement, &batch[slots[slot].place])) {
                bench_fail(result, "SQLite: the row of ID %lld is not an item", (long long)id);
                sqlite3_reset(statement);
                goto failure;
            }
        }
        sqlite3_reset(statement);
        TRY_CODE(code, SQLITE_DONE);
        for (size_t place = 0; place < size; place += 1) {
            if (batch[place].id != 0) {
                take(&batch[place], result);
            }
        }
    }
    result->nanoseconds = bench_now() - start;
failure:
    free(slots);
    free(batch);
}

static void top(sqlite_peer *peer, const bench_workload *workload, bench_result *result) {
    uint64_t start = bench_now();
    for (size_t index = 0; index < workload->top_type_count; index += 1) {
        sqlite3_bind_int(peer->top, 1, workload->top_types[index]);
        sqlite3_bind_int64(peer->top, 2, (sqlite3_int64)workload->top_limit);
        TRY(take_rows(peer->top, result));
    }
    result->nanoseconds = bench_now() - start;
failure:
    return;
}

static void scan_all(sqlite_peer *peer, const bench_workload *workload, bench_result *result) {
    (void)workload;
    uint64_t start = bench_now();
    TRY(take_rows(peer->scan, result));
    result->nanoseconds = bench_now() - start;
failure:
    return;
}

// MARK: The peer

static void sqlite_run(
    bench_peer *base, bench_operation operation, const bench_workload *workload, bench_result *result
) {
    sqlite_peer *peer = (sqlite_peer *)base;
    switch (operation) {
    case bench_operation_insert_seq_bulk:
        insert_seq_bulk(peer, workload, result);
        return;
    case bench_operation_get_random:
        get_random(peer, workload, result);
        return;
    case bench_operation_get_random_txn:
        get_random_txn(peer, workload, result);
        return;
    case bench_operation_batch_get:
        batch_get(peer, workload, result);
        return;
    case bench_operation_top:
        top(peer, workload, result);
        return;
    case bench_operation_scan_all:
        scan_all(peer, workload, result);
        return;
    }
    bench_fail(result, "SQLite: unknown operation %d", (int)operation);
}

static void sqlite_settle(bench_peer *base, bench_result *result) {
    sqlite_peer *peer = (sqlite_peer *)base;
    // The totals keep SQLite from answering out of an index that was not asked for.
    TRY(sqlite3_exec(
        peer->database,
        "PRAGMA wal_checkpoint(TRUNCATE);"
        "SELECT total(length(note)) FROM item NOT INDEXED;"
        "SELECT total(createdAt) FROM item INDEXED BY item_by_type WHERE itemType >= 0;"
        "SELECT total(length(name)) FROM item INDEXED BY item_by_name WHERE name >= '';",
        NULL, NULL, NULL));
failure:
    return;
}

static void sqlite_close(bench_peer *base) {
    sqlite_peer *peer = (sqlite_peer *)base;
    sqlite3_stmt *statements[] = {
        peer->begin, peer->begin_immediate, peer->commit, peer->insert,
        peer->get, peer->top, peer->scan, peer->batch,
    };
    for (size_t index = 0; index < sizeof statements / sizeof *statements; index += 1) {
        sqlite3_finalize(statements[index]);
    }
    sqlite3_close(peer->database);
    free(peer);
}

bench_peer *bench_sqlite_open(const char *directory, int durable, bench_result *result) {
    char path[4096];
    sqlite_peer *peer = (sqlite_peer *)calloc(1, sizeof *peer);
    if (peer == NULL) {
        bench_fail(result, "out of memory");
        return NULL;
    }
    peer->base = (bench_peer){sqlite_run, sqlite_settle, sqlite_close};
    // Memory statistics lock a mutex at each allocation. This has an effect only before SQLite's first use, and is
    // refused without harm later.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if ((size_t)snprintf(path, sizeof path, "%s/items.sqlite", directory) >= sizeof path) {
        bench_fail(result, "the directory's path is too long");
        goto failure;
    }
    TRY(sqlite3_open_v2(
        path, &peer->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    TRY(sqlite3_exec(
        peer->database,
        "PRAGMA journal_mode = WAL;"
        "PRAGMA mmap_size = 1073741824;"
        "PRAGMA cache_size = -65536;",
        NULL, NULL, NULL));
    TRY(sqlite3_exec(
        peer->database, durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF", NULL, NULL, NULL));
    TRY(sqlite3_exec(
        peer->database,
        "CREATE TABLE IF NOT EXISTS item ("
        "    id INTEGER PRIMARY KEY, name TEXT NOT NULL, itemType INTEGER NOT NULL, price REAL NOT NULL,"
        "    createdAt INTEGER NOT NULL, isActive INTEGER NOT NULL, note TEXT NOT NULL);"
        "CREATE INDEX IF NOT EXISTS item_by_type ON item (itemType, createdAt);"
        "CREATE INDEX IF NOT EXISTS item_by_name ON item (name);",
        NULL, NULL, NULL));
    struct {
        sqlite3_stmt **statement;
        const char *text;
    } statements[] = {
        {&peer->begin, "BEGIN"},
        {&peer->begin_immediate, "BEGIN IMMEDIATE"},
        {&peer->commit, "COMMIT"},
        {&peer->insert, "INSERT INTO item (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?)"},
        {&peer->get, "SELECT " COLUMNS " FROM item WHERE id = ?"},
        {&peer->top, "SELECT " COLUMNS " FROM item WHERE itemType = ? ORDER BY createdAt DESC LIMIT ?"},
        {&peer->scan, "SELECT " COLUMNS " FROM item ORDER BY id"},
    };
    for (size_t index = 0; index < sizeof statements / sizeof *statements; index += 1) {
        TRY(sqlite3_prepare_v3(
            peer->database, statements[index].text, -1, SQLITE_PREPARE_PERSISTENT, statements[index].statement,
            NULL));
    }
    return &peer->base;
failure:
    sqlite_close(&peer->base);
    return NULL;
}

const char *bench_sqlite_version(void) {
    return sqlite3_libversion();
}
