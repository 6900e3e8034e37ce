// SPDX-License-Identifier: Apache-2.0

/// A stand-in for the module Roost, with just what an expansion names.
///
/// The fixtures are compiled against this and not the real module, so that every message comes from the macro: the
/// stub takes any type, where Roost's own constraints would add errors of theirs.
enum StubModule {
    static let source = """
        public struct RecordFailure: Error {}
        public struct Ref<Target>: Sendable { public init() {} }
        public struct Index<Target>: Sendable { public init() {} }
        public struct Field<Target> {
            public init<Value>(_ name: String, _ path: KeyPath<Target, Value>) {}
            public init<Value>(_ name: String, _ path: KeyPath<Target, Value>, _ raw: RawValuePath<Value>) {}
        }
        @dynamicMemberLookup public struct RawValuePath<Value> {
            public init() {}
            public subscript(dynamicMember name: String) -> RawValuePath { self }
        }
        public struct RecordShape {
            public init(fieldCount: Int) {}
            public func id<Value>(_ type: Value.Type) -> RecordShape { self }
            public func field<Value>(_ type: Value.Type) -> RecordShape { self }
        }
        public struct RecordEncoder {
            public mutating func encodeID<Value>(_ value: Value) {}
            public mutating func encode<Value>(_ value: Value) {}
        }
        public struct RecordDecoder {
            public mutating func decodeID<Value>(_ type: Value.Type) throws(RecordFailure) -> Value {
                throw RecordFailure()
            }
            public mutating func decode<Value>(_ type: Value.Type) throws(RecordFailure) -> Value {
                throw RecordFailure()
            }
        }
        public protocol Entity {
            associatedtype ID
            var id: ID { get }
            static var entityName: String { get }
            static var fields: [Field<Self>] { get }
            static var recordShape: RecordShape { get }
            func encode(to encoder: inout RecordEncoder)
            init(from decoder: inout RecordDecoder) throws(RecordFailure)
        }
        @attached(
            extension, conformances: Entity,
            names: named(entityName), named(fields), named(recordShape), named(encode(to:)), named(init(from:))
        )
        public macro Entity() = #externalMacro(module: "RoostMacros", type: "EntityMacro")
        """
}
