// SPDX-License-Identifier: Apache-2.0

extension WriteTransaction {
    /// Removes every object that the request describes. Returns how many there were.
    ///
    /// The IDs are gathered first, as for a walk inside a write, then the objects are removed with their index entries.
    /// Nothing is sorted, unless a limit or an offset makes the order matter.
    ///
    /// Where the IDs or an index say which objects they are, no record is read, and damaged ones are removed like others.
    /// Throws what a fetch does: `damaged`, with the object's ID, where the predicate or the order need a record that
    /// cannot be read, since nobody knows whether it is one of them. Nothing has been removed then.
    @discardableResult
    public func delete<T: Entity>(_ request: FetchDescriptor<T>) throws -> Int {
        let context = context
        let execution = try context.plan(request, .removal)
        let keys = try GatheredKeys(execution)
        try keys.forEach { key in
            // Every key was found in this transaction, in a record or in an index.
            guard try session.delete(execution.entity, key: key) else { throw execution.missingRecord() }
        }
        return keys.count
    }
}
