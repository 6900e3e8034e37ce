// SPDX-License-Identifier: Apache-2.0

extension ReadTransaction {
    /// The sequence of the last commit that this snapshot holds; inside a write, of the commit before it.
    public func sequence() throws -> UInt64 {
        do {
            return try store.engine.main.sequence(in: lease.transaction).sequence
        } catch {
            throw StoreError.wrapping(error, engine: store.engine)
        }
    }
}
