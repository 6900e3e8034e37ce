// SPDX-License-Identifier: Apache-2.0
#include <lmdb.h>

/// Asks the processor to load what `start` points to, and goes on. Any address will do.
static inline void roost_prefetch(const void *start) { __builtin_prefetch(start); }
