// SPDX-License-Identifier: Apache-2.0

// What both C peers share: their table of functions, the clock, and the way they report failure.

#ifndef PEER_SUPPORT_H
#define PEER_SUPPORT_H

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "CPeers.h"

/// The first member of each peer's own struct.
struct bench_peer {
    void (*run)(bench_peer *, bench_operation, const bench_workload *, bench_result *);
    void (*settle)(bench_peer *, bench_result *);
    void (*close)(bench_peer *);
};

bench_peer *bench_lmdb_open(const char *directory, int durable, bench_result *result);
bench_peer *bench_sqlite_open(const char *directory, int durable, bench_result *result);

static inline uint64_t bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static inline void bench_fail(bench_result *result, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->message, sizeof result->message, format, arguments);
    va_end(arguments);
    result->failed = 1;
}

#endif
