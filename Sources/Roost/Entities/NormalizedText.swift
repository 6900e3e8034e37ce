// SPDX-License-Identifier: Apache-2.0

@_spi(_Unicode) import Swift

/// Text as the store compares it: the UTF-8 bytes of the NFC form, ordered as bytes.
///
/// Two strings are equal by Swift's `==` exactly when these bytes are equal. Swift's `<` is not used: on unnormalised text
/// it is not transitive. This is the only file that touches the standard library's normaliser, which is SPI; Foundation's
/// `precomposedStringWithCanonicalMapping` leaves some Hangul syllables uncomposed.
enum NormalizedText {
    static func bytes(of text: String) -> [UInt8] {
        var copy = text
        return copy.withUTF8 { utf8 in
            withNormalized(UnsafeRawBufferPointer(utf8)) { Array($0) }
        }
    }

    /// Hands `body` the NFC form of `utf8`: the same bytes where they are in that form already, which is found out without
    /// decoding them for all text below U+0300. Bytes that are not UTF-8 are read as if repaired.
    @inline(__always)
    static func withNormalized<Result>(
        _ utf8: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        if isTriviallyNormalized(utf8) { return try body(utf8) }
        var normalized = normalize(utf8)
        return try normalized.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    }

    @inline(never)
    private static func normalize(_ utf8: UnsafeRawBufferPointer) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: String(decoding: utf8, as: UTF8.self)._nfc)
        return String(scalars)
    }

    /// No scalar below U+0300 composes with a neighbour below U+0300, decomposes in NFC or combines: text made of them
    /// alone is in NFC (Unicode's DerivedNormalizationProps: NFC_Quick_Check is Yes and the combining class 0). In UTF-8
    /// those scalars are the ones whose bytes are all below 0xCC.
    static func isTriviallyNormalized(_ utf8: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset + 8 <= utf8.count {
            let word = utf8.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 { break }
            offset += 8
        }
        while offset < utf8.count {
            if utf8[offset] >= 0xCC { return false }
            offset += 1
        }
        return true
    }

    /// The Unicode version of the standard library, by a scalar that each version was the first to assign. The catalog
    /// keeps it: text that holds scalars of a later version may be normalised otherwise by it.
    static let unicodeVersion: String = {
        let firsts: [(String, UInt32)] = [
            ("17.0", 0x20C1), ("16.0", 0x1C89), ("15.1", 0x2FFC), ("15.0", 0x1E030), ("14.0", 0x0870),
        ]
        for (version, value) in firsts {
            if let scalar = Unicode.Scalar(value), scalar.properties.age != nil { return version }
        }
        return "13.0"
    }()
}
