// SPDX-License-Identifier: Apache-2.0

// LMDB used directly: what a C program would write for this one workload by hand. It may do what a general store may
// not, such as native integer keys, and stands for the least that LMDB can cost.
//
// Primary: the ID as MDB_INTEGERKEY to a record of createdAt i64, price f64, itemType i32, isActive u8, then a 32-bit
// length and the bytes for name and for note; native byte order, unaligned.
// Index A: itemType u32, createdAt with its sign flipped, ID; all big-endian, to nothing.
// Index B: name, 0, ID big-endian, to nothing.

#include <lmdb.h>
#include <stdlib.h>

#include "PeerSupport.h"

typedef struct {
    bench_peer base;
    MDB_env *environment;
    MDB_dbi items;
    MDB_dbi by_type;
    MDB_dbi by_name;
} lmdb_peer;

#define BY_TYPE_KEY_SIZE 20
#define BY_NAME_KEY_CAPACITY (BENCH_NAME_CAPACITY + 1 + 8)
#define RECORD_FIXED_SIZE (8 + 8 + 4 + 1)

/// Leaves through the function's `failure` label, with the message in `result`.
#define TRY(call)                                                                 \
    do {                                                                          \
        int code_ = (call);                                                       \
        if (__builtin_expect(code_ != MDB_SUCCESS, 0)) {                          \
            bench_fail(result, "LMDB: %s in %s", mdb_strerror(code_), #call);     \
            goto failure;                                                         \
        }                                                                         \
    } while (0)

// MARK: Encoding

static inline void store_big_endian_32(unsigned char *bytes, uint32_t value) {
    value = __builtin_bswap32(value);
    memcpy(bytes, &value, sizeof value);
}

static inline void store_big_endian_64(unsigned char *bytes, uint64_t value) {
    value = __builtin_bswap64(value);
    memcpy(bytes, &value, sizeof value);
}

static inline uint64_t load_big_endian_64(const unsigned char *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

static inline size_t record_size(const bench_item *item) {
    return RECORD_FIXED_SIZE + 4 + item->name_length + 4 + item->note_length;
}

static inline void encode_record(const bench_item *item, unsigned char *bytes) {
    memcpy(bytes, &item->created_at, 8);
    memcpy(bytes + 8, &item->price, 8);
    memcpy(bytes + 16, &item->item_type, 4);
    bytes[20] = item->is_active;
    bytes += RECORD_FIXED_SIZE;
    uint32_t length = item->name_length;
    memcpy(bytes, &length, 4);
    memcpy(bytes + 4, item->name, length);
    bytes += 4 + length;
    length = item->note_length;
    memcpy(bytes, &length, 4);
    memcpy(bytes + 4, item->note, length);
}

/// Copies a record out of the map. Returns 0 if the record cannot be an item.
static inline int decode_record(int64_t id, const MDB_val *record, bench_item *item) {
    const unsigned char *bytes = (const unsigned char *)record->mv_data;
    size_t left = record->mv_size;
    if (left < RECORD_FIXED_SIZE + 4) {
        return 0;
    }
    item->id = id;
    memcpy(&item->created_at, bytes, 8);
    memcpy(&item->price, bytes + 8, 8);
    memcpy(&item->item_type, bytes + 16, 4);
    item->is_active = bytes[20];
    uint32_t length;
    memcpy(&length, bytes + RECORD_FIXED_SIZE, 4);
    bytes += RECORD_FIXED_SIZE + 4;
    left -= RECORD_FIXED_SIZE + 4;
    if (length > BENCH_NAME_CAPACITY || (size_t)length + 4 > left) {
        return 0;
    }
    item->name_length = (uint8_t)length;
    memcpy(item->name, bytes, length);
    bytes += length;
    left -= length + 4;
    memcpy(&length, bytes, 4);
    if (length > BENCH_NOTE_CAPACITY || length > left) {
        return 0;
    }
    item->note_length = (uint8_t)length;
    memcpy(item->note, bytes + 4, length);
    return 1;
}

static inline void encode_by_type_key(int32_t item_type, int64_t created_at, int64_t id, unsigned char *key) {
    store_big_endian_32(key, (uint32_t)item_type);
    store_big_endian_64(key + 4, (uint64_t)created_at ^ UINT64_C(0x8000000000000000));
    store_big_endian_64(key + 12, (uint64_t)id);
}

static inline size_t encode_by_name_key(const bench_item *item, unsigned char *key) {
    memcpy(key, item->name, item->name_length);
    key[item->name_length] = 0;
    store_big_endian_64(key + item->name_length + 1, (uint64_t)item->id);
    return item->name_length + 1 + 8;
}

// MARK: Operations

static void insert_seq_bulk(lmdb_peer *peer, const bench_workload *workload, bench_result *result) {
    MDB_txn *transaction = NULL;
    MDB_cursor *items = NULL, *by_type = NULL, *by_name = NULL;
    MDB_val nothing = {0, NULL};
    uint64_t start = bench_now();
    TRY(mdb_txn_begin(peer->environment, NULL, 0, &transaction));
    TRY(mdb_cursor_open(transaction, peer->items, &items));
    TRY(mdb_cursor_open(transaction, peer->by_type, &by_type));
    TRY(mdb_cursor_open(transaction, peer->by_name, &by_name));
    for (size_t index = 0; index < workload->item_count; index += 1) {
        const bench_item *item = &workload->items[index];
        size_t id = (size_t)item->id;
        MDB_val key = {sizeof id, &id};
        MDB_val record = {record_size(item), NULL};
        TRY(mdb_cursor_put(items, &key, &record, MDB_APPEND | MDB_RESERVE));
        encode_record(item, (unsigned char *)record.mv_data);

        unsigned char by_type_key[BY_TYPE_KEY_SIZE];
        encode_by_type_key(item->item_type, item->created_at, item->id, by_type_key);
        key = (MDB_val){sizeof by_type_key, by_type_key};
        TRY(mdb_cursor_put(by_type, &key, &nothing, 0));

        unsigned char by_name_key[BY_NAME_KEY_CAPACITY];
        key = (MDB_val){encode_by_name_key(item, by_name_key), by_name_key};
        TRY(mdb_cursor_put(by_name, &key, &nothing, 0));
    }
    mdb_cursor_close(items);
    mdb_cursor_close(by_type);
    mdb_cursor_close(by_name);
    int code = mdb_txn_commit(transaction);
    transaction = NULL;
    TRY(code);
    result->nanoseconds = bench_now() - start;
    result->rows = workload->item_count;
    return;
failure:
    // A write transaction frees its cursors with itself.
    if (transaction != NULL) {
        mdb_txn_abort(transaction);
    }
}

/// One lookup, decoded into `item` and hashed into `result`. Returns LMDB's code.
static inline int look_up(
    MDB_txn *transaction, MDB_dbi items, int64_t id, bench_item *item, bench_result *result
) {
    size_t native_id = (size_t)id;
    MDB_val key = {sizeof native_id, &native_id}, record;
    int code = mdb_get(transaction, items, &key, &record);
    if (code != MDB_SUCCESS) {
        return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
    }
    if (!decode_record(id, &record, item)) {
        return MDB_CORRUPTED;
    }
    result->checksum = bench_hash_value(result->checksum, bench_hash_item(item));
    result->rows += 1;
    return MDB_SUCCESS;
}

static void get_random(lmdb_peer *peer, const bench_workload *workload, bench_result *result) {
    MDB_txn *transaction = NULL;
    bench_item item;
    uint64_t start = bench_now();
    TRY(mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, &transaction));
    for (size_t index = 0; index < workload->lookup_count; index += 1) {
        TRY(look_up(transaction, peer->items, workload->lookup_ids[index], &item, result));
    }
    mdb_txn_abort(transaction);
    result->nanoseconds = bench_now() - start;
    return;
failure:
    if (transaction != NULL) {
        mdb_txn_abort(transaction);
    }
}

/// A transaction for each lookup: begun once, then reset and renewed, which is the cheap way that LMDB offers.
static void get_random_txn(lmdb_peer *peer, const bench_workload *workload, bench_result *result) {
    MDB_txn *transaction = NULL;
    bench_item item;
    uint64_t start = bench_now();
    TRY(mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, &transaction));
    mdb_txn_reset(transaction);
    for (size_t index = 0; index < workload->lookup_count; index += 1) {
        TRY(mdb_txn_renew(transaction));
        TRY(look_up(transaction, peer->items, workload->lookup_ids[index], &item, result));
        mdb_txn_reset(transaction);
    }
    mdb_txn_abort(transaction);
    result->nanoseconds = bench_now() - start;
    return;
failure:
    if (transaction != NULL) {
        mdb_txn_abort(transaction);
    }
}

static void batch_get(lmdb_peer *peer, const bench_workload *workload, bench_result *result) {
    MDB_txn *transaction = NULL;
    bench_item *batch = (bench_item *)malloc(workload->batch_size * sizeof *batch);
    if (batch == NULL) {
        bench_fail(result, "out of memory");
        return;
    }
    uint64_t start = bench_now();
    for (size_t index = 0; index < workload->batch_count; index += 1) {
        const int64_t *ids = workload->batch_ids + index * workload->batch_size;
        TRY(mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, &transaction));
        for (size_t place = 0; place < workload->batch_size; place += 1) {
            TRY(look_up(transaction, peer->items, ids[place], &batch[place], result));
        }
        mdb_txn_abort(transaction);
        transaction = NULL;
    }
    result->nanoseconds = bench_now() - start;
failure:
    if (transaction != NULL) {
        mdb_txn_abort(transaction);
    }
    free(batch);
}

static void top(lmdb_peer *peer, const bench_workload *workload, bench_result *result) {
    MDB_txn *transaction = NULL;
    MDB_cursor *by_type = NULL;
    bench_item item;
    uint64_t start = bench_now();
    for (size_t index = 0; index < workload->top_type_count; index += 1) {
        uint32_t item_type = (uint32_t)workload->top_types[index];
        if (transaction == NULL) {
            TRY(mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, &transaction));
            TRY(mdb_cursor_open(transaction, peer->by_type, &by_type));
        } else {
            TRY(mdb_txn_renew(transaction));
            TRY(mdb_cursor_renew(transaction, by_type));
        }
        // Begin behind the last entry of the type and walk backwards.
        unsigned char bound[4];
        store_big_endian_32(bound, item_type + 1);
        MDB_val key = {sizeof bound, bound}, nothing;
        int code = mdb_cursor_get(by_type, &key, &nothing, MDB_SET_RANGE);
        code = mdb_cursor_get(by_type, &key, &nothing, code == MDB_NOTFOUND ? MDB_LAST : MDB_PREV);
        for (size_t count = 0; count < workload->top_limit && code == MDB_SUCCESS; count += 1) {
            const unsigned char *entry = (const unsigned char *)key.mv_data;
            uint32_t entry_type;
            memcpy(&entry_type, entry, 4);
            if (__builtin_bswap32(entry_type) != item_type) {
                break;
            }
            TRY(look_up(transaction, peer->items, (int64_t)load_big_endian_64(entry + 12), &item, result));
            code = mdb_cursor_get(by_type, &key, &nothing, MDB_PREV);
        }
        if (code != MDB_NOTFOUND) {
            TRY(code);
        }
        mdb_txn_reset(transaction);
    }
    result->nanoseconds = bench_now() - start;
failure:
    if (by_type != NULL) {
        mdb_cursor_close(by_type);
    }
    if (transaction != NULL) {
        mdb_txn_abort(transaction);
    }
}

static void scan_all(lmdb_peer *peer, const bench_workload *workload, bench_result *result) {
    (void)workload;
    MDB_txn *transaction = NULL;
    MDB_cursor *items = NULL;
    bench_item item;
    uint64_t start = bench_now();
    TRY(mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, &transaction));
    TRY(mdb_cursor_open(transaction, peer->items, &items));
    MDB_val key, record;
    int code = mdb_cursor_get(items, &key, &record, MDB_FIRST);
    while (code == MDB_SUCCESS) {
        size_t id;
        memcpy(&id, key.mv_data, sizeof id);
        if (!decode_record((int64_t)id, &record, &item)) {
            TRY(MDB_CORRUPTED);
        }
        result->checksum = bench_hash_value(result->checksum, bench_hash_item(&item));
        result->rows += 1;
        code = mdb_cursor_get(items, &key, &record, MDB_NEXT);
    }
    if (code != MDB_NOTFOUND) {
        TRY(code);
    }
    result->nanoseconds = bench_now() - start;
failure:
    if (items != NULL) {
        mdb_cursor_close(items);
    }
    if (transaction != NULL) {
        mdb_txn_abort(transaction);
    }
}

// MARK: The peer

static void lmdb_run(
    bench_peer *base, bench_operation operation, const bench_workload *workload, bench_result *result
) {
    lmdb_peer *peer = (lmdb_peer *)base;
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
    bench_fail(result, "LMDB: unknown operation %d", (int)operation);
}

static void lmdb_settle(bench_peer *base, bench_result *result) {
    lmdb_peer *peer = (lmdb_peer *)base;
    MDB_txn *transaction = NULL;
    MDB_cursor *cursor = NULL;
    TRY(mdb_txn_begin(peer->environment, NULL, MDB_RDONLY, &transaction));
    MDB_dbi databases[] = {peer->items, peer->by_type, peer->by_name};
    for (size_t index = 0; index < 3; index += 1) {
        TRY(mdb_cursor_open(transaction, databases[index], &cursor));
        MDB_val key, value;
        int code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST);
        while (code == MDB_SUCCESS) {
            result->checksum = bench_hash_bytes(result->checksum, key.mv_data, key.mv_size);
            result->checksum = bench_hash_bytes(result->checksum, value.mv_data, value.mv_size);
            code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
        }
        mdb_cursor_close(cursor);
        cursor = NULL;
        if (code != MDB_NOTFOUND) {
            TRY(code);
        }
    }
failure:
    if (cursor != NULL) {
        mdb_cursor_close(cursor);
    }
    if (transaction != NULL) {
        mdb_txn_abort(transaction);
    }
}

static void lmdb_close(bench_peer *base) {
    lmdb_peer *peer = (lmdb_peer *)base;
    if (peer->environment != NULL) {
        mdb_env_close(peer->environment);
    }
    free(peer);
}

bench_peer *bench_lmdb_open(const char *directory, int durable, bench_result *result) {
    MDB_txn *transaction = NULL;
    lmdb_peer *peer = (lmdb_peer *)calloc(1, sizeof *peer);
    if (peer == NULL) {
        bench_fail(result, "out of memory");
        return NULL;
    }
    peer->base = (bench_peer){lmdb_run, lmdb_settle, lmdb_close};
    TRY(mdb_env_create(&peer->environment));
    TRY(mdb_env_set_mapsize(peer->environment, (size_t)1 << 34));
    TRY(mdb_env_set_maxdbs(peer->environment, 3));
    TRY(mdb_env_open(peer->environment, directory, durable ? 0 : MDB_NOSYNC, 0644));
    TRY(mdb_txn_begin(peer->environment, NULL, 0, &transaction));
    TRY(mdb_dbi_open(transaction, "item", MDB_CREATE | MDB_INTEGERKEY, &peer->items));
    TRY(mdb_dbi_open(transaction, "item_by_type", MDB_CREATE, &peer->by_type));
    TRY(mdb_dbi_open(transaction, "item_by_name", MDB_CREATE, &peer->by_name));
    int code = mdb_txn_commit(transaction);
    transaction = NULL;
    TRY(code);
    return &peer->base;
failure:
    if (transaction != NULL) {
        mdb_txn_abort(transaction);
    }
    lmdb_close(&peer->base);
    return NULL;
}

const char *bench_lmdb_version(void) {
    return mdb_version(NULL, NULL, NULL);
}
