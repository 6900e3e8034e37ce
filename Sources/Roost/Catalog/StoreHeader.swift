// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The first entry of the main database, by which a file is known as a store (SPEC.md, "Header").
struct StoreHeader: Equatable {
    static let magic: [UInt8] = Array("RoostDB\n".utf8)
    static let currentFormat: UInt16 = 1
    static let size = 40

    var format = currentFormat
    /// Features without which a reader would be wrong. This version knows none.
    var incompatibleFeatures: UInt32 = 0
    /// Features that allow reading, but not writing, by a version that does not know them. This one knows none.
    var readOnlyCompatibleFeatures: UInt32 = 0
    var storeID = UUID()

    init() {}

    /// Tells apart what is not a store, what is newer, and what is damaged.
    init(_ bytes: [UInt8], path: String) throws(StoreError) {
        guard bytes.count >= 8, Array(bytes[..<8]) == Self.magic else {
            throw StoreError(.notAStore, "\(path) is not a Roost store.", path: path)
        }
        // A later format may add to the header, behind the checksum.
        guard bytes.count >= Self.size else {
            throw StoreError(.damaged, "The header of \(path) is damaged: it has \(bytes.count) bytes.", path: path)
        }
        let (format, incompatible, readOnly, id, checksum) = bytes.withUnsafeBytes { raw in
            (
                UInt16(littleEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt16.self)),
                UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 12, as: UInt32.self)),
                UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 16, as: UInt32.self)),
                UUID(uuid: raw.loadUnaligned(fromByteOffset: 20, as: uuid_t.self)),
                UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: 36, as: UInt32.self))
            )
        }
        let expected = bytes[..<36].withUnsafeBytes { Checksum.crc32c($0) }
        guard checksum == expected else {
            throw StoreError(.damaged, "The header of \(path) is damaged: its checksum is wrong.", path: path)
        }
        guard format <= Self.currentFormat, incompatible == 0 else {
            throw StoreError(
                .newerFormat,
                "\(path) was written by a newer version of Roost (format \(format), features \(incompatible)).",
                path: path)
        }
        guard bytes.count == Self.size else {
            throw StoreError(.damaged, "The header of \(path) is damaged: it has \(bytes.count) bytes.", path: path)
        }
        self.format = format
        incompatibleFeatures = incompatible
        readOnlyCompatibleFeatures = readOnly
        storeID = id
    }

    /// Throws `newerFormat` where the store may be read by this version, but not written.
    func verifyWritable(path: String) throws(StoreError) {
        guard readOnlyCompatibleFeatures != 0 else { return }
        throw StoreError(
            .newerFormat,
            "\(path) was written by a newer version of Roost, and this one can only read it (features "
                + "\(readOnlyCompatibleFeatures)): open it with Options(isReadOnly: true), or update Roost.",
            path: path)
    }

    var bytes: [UInt8] {
        var bytes = Self.magic
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(format)
        append(UInt16(0))
        append(incompatibleFeatures)
        append(readOnlyCompatibleFeatures)
        withUnsafeBytes(of: storeID.uuid) { bytes.append(contentsOf: $0) }
        append(bytes.withUnsafeBytes { Checksum.crc32c($0) })
        return bytes
    }
}
