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

uint64_t bench_probe(void) {
    // Four chains that do not wait for each other: as many instructions at once as decoding has.
    uint64_t state[4] = {1, 2, 3, 4};
    uint64_t start = bench_now();
    for (size_t step = 0; step < 500000; step += 1) {
        for (size_t chain = 0; chain < 4; chain += 1) {
            state[chain] = state[chain] * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            state[chain] ^= state[chain] >> 29;
        }
    }
    uint64_t duration = bench_now() - start;
    // The result is looked at, so that the work is done.
    return (state[0] ^ state[1] ^ state[2] ^ state[3]) == 0 ? duration + 1 : duration;
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
