// Stand-ins for Apple's Foundation, for `Scripts/apple.sh`: type-checked against, never linked. Own work.
//
// Values (Data, Date, URL, FileManager, the encoders, …) are those of FoundationEssentials, which Apple's Foundation is made of too, with
// their availability. What is declared here is the rest that Waylay uses, the way Apple's SDK imports it into Swift; each declaration
// names its page. Where a page does not say whether a class is `Sendable`, it is not, so that the code compiles either way.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Dispatch
@_exported import FoundationEssentials
@_exported import Security
