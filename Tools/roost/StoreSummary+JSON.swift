// SPDX-License-Identifier: Apache-2.0

import Roost

extension StoreSummary {
    var json: JSON {
        .object([
            ("path", .string(path)),
            ("storeID", .string(storeID.uuidString)),
            ("formatVersion", .number(formatVersion)),
            ("unicodeVersion", .string(unicodeVersion)),
            ("sequence", .number(sequence)),
            (
                "history",
                history.map { .object([("first", .number($0.lowerBound)), ("last", .number($0.upperBound))]) }
                    ?? .null
            ),
            ("pageSize", .number(pageSize)),
            ("fileSize", .number(fileSize)),
            ("usedBytes", .number(usedBytes)),
            ("mapSize", .number(mapSize)),
            ("readerSlots", .object([("used", .number(readerSlots.used)), ("limit", .number(readerSlots.limit))])),
            ("oldestReaderLag", oldestReaderLag.map { .number($0) } ?? .null),
            ("types", .array(entities.map(\.json))),
        ])
    }
}

extension StoreSummary.Entity {
    fileprivate var json: JSON {
        .object([
            ("number", .number(number)),
            ("name", .string(name)),
            ("objects", .number(records.entries)),
            ("pages", .number(records.pages)),
            ("depth", .number(records.depth)),
            (
                "fields",
                .array(
                    fields.map {
                        .object([
                            ("name", .string($0.name)), ("type", .string($0.type)),
                            ("references", .string($0.references)),
                        ])
                    })
            ),
            (
                "layouts",
                .array(
                    layouts.map {
                        .object([
                            ("number", .number($0.number)), ("fields", .array($0.fields.map { .string($0) })),
                            ("isCurrent", .bool($0.isCurrent)),
                        ])
                    })
            ),
            (
                "indexes",
                .array(
                    indexes.map {
                        .object([
                            ("name", .string($0.name)), ("entries", .number($0.tree.entries)),
                            ("pages", .number($0.tree.pages)), ("depth", .number($0.tree.depth)),
                            ("cutKeys", .number($0.cutKeys)),
                        ])
                    })
            ),
        ])
    }
}
