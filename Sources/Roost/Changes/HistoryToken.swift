// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A place in the history of one store: after a certain commit. Keep it with what was made of the store's state at that
/// commit, and ask later what has happened since: see `Store.history(since:limit:)`.
///
/// It is a small value, and one short text where it is encoded.
public struct HistoryToken: Hashable, Sendable {
    /// The store's number, which copies of it share.
    public let storeID: UUID
    /// The commit's number; 0 for an empty history.
    public let sequence: UInt64
    /// Random, of that commit: another one where a copy of the store went its own way.
    let nonce: UInt64

    init(storeID: UUID, sequence: UInt64, nonce: UInt64) {
        self.storeID = storeID
        self.sequence = sequence
        self.nonce = nonce
    }
}

extension HistoryToken: LosslessStringConvertible {
    /// The store's number, the commit's and the random one, with colons between: `E621E1F8-…:42:9f3a…`.
    public var description: String { "\(storeID.uuidString):\(sequence):\(String(nonce, radix: 16))" }

    /// A token from its description; nil for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let storeID = UUID(uuidString: String(parts[0])), let sequence = UInt64(parts[1]),
            let nonce = UInt64(parts[2], radix: 16)
        else { return nil }
        self.init(storeID: storeID, sequence: sequence, nonce: nonce)
    }
}

extension HistoryToken: Codable {
    /// Reads the description.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let token = HistoryToken(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no token: \(text)")
        }
        self = token
    }

    /// Writes the description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
