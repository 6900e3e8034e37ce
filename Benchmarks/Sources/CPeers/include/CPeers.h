// SPDX-License-Identifier: Apache-2.0

// The peers that Roost is measured against, written in C: LMDB used directly, and SQLite.
//
// To add an operation: add a case to `bench_operation`, a function in each peer, and the row in the Swift harness.

#ifndef CPEERS_H
#define CPEERS_H

#include <stddef.h>
#include <stdint.h>

#include "BenchHash.h"

#define BENCH_NAME_CAPACITY 16
#define BENCH_NOTE_CAPACITY 80

/// An item as an owned value: the strings lie in the struct, as a program that keeps the item would have them.
typedef struct {
    int64_t id;
    int64_t created_at;
    double price;
    int32_t item_type;
    uint8_t is_active;
    uint8_t name_length;
    uint8_t note_length;
    char name[BENCH_NAME_CAPACITY];
    char note[BENCH_NOTE_CAPACITY];
} bench_item;

/// The hash of all seven fields, in the order of their declaration. It starts anew for each item, so that the
/// processor can work on the next item while it finishes this one: the hash should cost the peers little.
static inline uint64_t bench_hash_item(const bench_item *item) {
    uint64_t hash = bench_hash_value(bench_hash_seed, (uint64_t)item->id);
    hash = bench_hash_bytes(hash, item->name, item->name_length);
    hash = bench_hash_value(hash, (uint64_t)(int64_t)item->item_type);
    hash = bench_hash_double(hash, item->price);
    hash = bench_hash_value(hash, (uint64_t)item->created_at);
    hash = bench_hash_value(hash, item->is_active);
    return bench_hash_bytes(hash, item->note, item->note_length);
}

/// The splitmix64 generator.
typedef struct {
    uint64_t state;
} bench_random;

/// The next 64 bits of the stream.
uint64_t bench_random_next(bench_random *random);

/// A number from 0 up to, but not including, `bound`.
uint64_t bench_random_below(bench_random *random, uint64_t bound);

/// Fills `items` with the first `count` items of the workload, IDs 1 to `count`.
void bench_generate_items(bench_item *items, size_t count);

/// The pointer to an item's name or note, for a caller that cannot name a C array.
static inline const char *bench_item_name(const bench_item *item) { return item->name; }
static inline const char *bench_item_note(const bench_item *item) { return item->note; }

/// What all peers are given. The arrays belong to the caller.
typedef struct {
    const bench_item *items;
    size_t item_count;
    const int64_t *lookup_ids;
    size_t lookup_count;
    const int64_t *batch_ids;
    size_t batch_size;
    size_t batch_count;
    const int32_t *top_types;
    size_t top_type_count;
    size_t top_limit;
} bench_workload;

typedef enum {
    bench_operation_insert_seq_bulk,
    bench_operation_get_random,
    bench_operation_get_random_txn,
    bench_operation_batch_get,
    bench_operation_top,
    bench_operation_scan_all,
} bench_operation;

typedef enum {
    bench_peer_kind_lmdb,
    bench_peer_kind_sqlite,
} bench_peer_kind;

/// Nanoseconds for a fixed amount of arithmetic that keeps a core busy: more than usual while the core is shared.
uint64_t bench_probe(void);

#define BENCH_MESSAGE_CAPACITY 256

/// What an operation took and found. When `failed` is not 0, `message` says why and the other fields mean nothing.
typedef struct {
    uint64_t nanoseconds;
    uint64_t checksum;
    uint64_t rows;
    int32_t failed;
    char message[BENCH_MESSAGE_CAPACITY];
} bench_result;

static inline const char *bench_result_message(const bench_result *result) { return result->message; }

typedef struct bench_peer bench_peer;

/// Opens the peer's database in an existing directory, and creates it, with its indexes, if it is not there.
/// `durable` is 0 for the operations without fsync. Returns NULL and says why in `result` if it fails.
bench_peer *bench_peer_open(bench_peer_kind kind, const char *directory, int durable, bench_result *result);

/// Runs one operation. Preparation that WORKLOAD excludes from the time happens outside of `nanoseconds`.
void bench_peer_run(bench_peer *peer, bench_operation operation, const bench_workload *workload, bench_result *result);

/// Reads the table and both indexes once, so that later reads are warm, and brings the files to their size at rest.
void bench_peer_settle(bench_peer *peer, bench_result *result);

/// Closes the peer and frees it.
void bench_peer_close(bench_peer *peer);

const char *bench_lmdb_version(void);
const char *bench_sqlite_version(void);

#include "CLive.h"

#endif
