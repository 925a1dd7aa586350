// What the sources of the package see through WaylayCore.
@_exported public import Core

/// Stands in for what the store keeps until the medium has what takes its place.
struct Retired: Sendable {
  let slot: DiskSlot
  let low: UInt64
  let isEntry: Bool
}
