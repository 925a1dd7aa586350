@_exported public import Foundation

// Foundation exports the C library, except on Android.
#if canImport(Android)
  @_exported public import Android
#endif
