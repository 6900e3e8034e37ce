// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

extension Engine {
    /// What an error's message says about this store.
    var condition: StoreCondition {
        StoreCondition(
            path: environment.directory, space: { [environment] in environment.space },
            pinningReader: { [environment] in environment.pinningReader })
    }
}

extension StoreError {
    /// Whatever the layers below threw, as a `StoreError`; errors of the caller's own closures stay what they are.
    static func wrapping(_ error: any Error, engine: Engine?) -> any Error {
        wrapping(error, condition: engine?.condition)
    }

    init(_ error: LMDBError, engine: Engine) {
        self.init(error, condition: engine.condition)
    }
}
