// SPDX-License-Identifier: Apache-2.0

#include "PeerSupport.h"

bench_peer *bench_peer_open(bench_peer_kind kind, const char *directory, int durable, bench_result *result) {
    memset(result, 0, sizeof *result);
    switch (kind) {
    case bench_peer_kind_lmdb:
        return bench_lmdb_open(directory, durable, result);
    case bench_peer_kind_sqlite:
        return bench_sqlite_open(directory, durable, result);
    }
    bench_fail(result, "unknown kind of peer %d", (int)kind);
    return NULL;
}

void bench_peer_run(bench_peer *peer, bench_operation operation, const bench_workload *workload, bench_result *result) {
    memset(result, 0, sizeof *result);
    result->checksum = bench_hash_seed;
    peer->run(peer, operation, workload, result);
}

void bench_peer_settle(bench_peer *peer, bench_result *result) {
    memset(result, 0, sizeof *result);
    peer->settle(peer, result);
}

void bench_peer_close(bench_peer *peer) {
    if (peer != NULL) {
        peer->close(peer);
    }
}
