// SPDX-License-Identifier: Apache-2.0

// The one hash of the benchmarks. C peers and Swift peers call these same inline functions, so a checksum that differs
// means that the decoded fields differ.

#ifndef BENCH_HASH_H
#define BENCH_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// What the hash of an item and the hash of a result start from.
static const uint64_t bench_hash_seed = UINT64_C(0x243F6A8885A308D3);

/// Takes one 64-bit value into the hash.
static inline uint64_t bench_hash_value(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return (hash << 29) | (hash >> 35);
}

static inline uint64_t bench_load_little_endian(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/// Takes bytes into the hash: eight at a time, little-endian, then the rest padded with zeros, then the length.
static inline uint64_t bench_hash_bytes(uint64_t hash, const void *start, size_t length) {
    const unsigned char *bytes = (const unsigned char *)start;
    size_t position = 0;
    for (; position + 8 <= length; position += 8) {
        hash = bench_hash_value(hash, bench_load_little_endian(bytes + position));
    }
    size_t rest = length - position;
    if (rest != 0) {
        uint64_t word = 0;
        if (length >= 8) {
            // The last eight bytes overlap what was read; the shift leaves just the rest.
            word = bench_load_little_endian(bytes + length - 8) >> (64 - 8 * rest);
        } else {
            for (size_t index = 0; index < rest; index += 1) {
                word |= (uint64_t)bytes[index] << (8 * index);
            }
        }
        hash = bench_hash_value(hash, word);
    }
    return bench_hash_value(hash, (uint64_t)length);
}

/// Takes a number into the hash by its bit pattern.
static inline uint64_t bench_hash_double(uint64_t hash, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bench_hash_value(hash, bits);
}

#endif
