// SPDX-License-Identifier: Apache-2.0

extension WriteTransaction {
    /// Removes every object that the request describes. Returns how many there were.
    ///
    /// The IDs are gathered first, as for a walk inside a write, then the objects are removed with their index entries.
    /// Throws what a fetch does.
    @discardableResult
    public func delete<T: Entity>(_ request: FetchDescriptor<T>) throws -> Int {
        let context = context
        let execution = try context.plan(request, .keys)
        let keys = try GatheredKeys(execution)
        try keys.forEach { key in
            // Every key was found in this transaction, in a record or in an index.
            guard try session.delete(execution.entity, key: key) else { throw execution.missingRecord() }
        }
        return keys.count
    }
}
