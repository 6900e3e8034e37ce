// SPDX-License-Identifier: Apache-2.0

#include "CPeers.h"

uint64_t bench_random_next(bench_random *random) {
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t value = random->state;
    value = (value ^ (value >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94D049BB133111EB);
    return value ^ (value >> 31);
}

uint64_t bench_random_below(bench_random *random, uint64_t bound) {
    return bench_random_next(random) % bound;
}

static double random_unit(bench_random *random) {
    return (double)(bench_random_next(random) >> 11) * 0x1p-53;
}

void bench_generate_items(bench_item *items, size_t count) {
    bench_random random = {42};
    for (size_t index = 0; index < count; index += 1) {
        // The order of the draws is part of the workload.
        bench_item *item = &items[index];
        memset(item, 0, sizeof *item);
        item->id = (int64_t)index + 1;
        memcpy(item->name, "item-", 5);
        for (size_t letter = 5; letter < 15; letter += 1) {
            item->name[letter] = (char)('a' + bench_random_below(&random, 26));
        }
        item->name_length = 15;
        item->item_type = (int32_t)bench_random_below(&random, 16);
        item->price = random_unit(&random) * 1000;
        item->created_at =
            INT64_C(1700000000000000) + (int64_t)bench_random_below(&random, UINT64_C(365) * 86400 * 1000000);
        item->is_active = (uint8_t)(bench_random_next(&random) & 1);
        item->note_length = (uint8_t)(40 + bench_random_below(&random, 41));
        for (size_t letter = 0; letter < item->note_length; letter += 1) {
            item->note[letter] = (char)(0x20 + bench_random_below(&random, 95));
        }
    }
}
