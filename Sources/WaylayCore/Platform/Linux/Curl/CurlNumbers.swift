#if canImport(FoundationNetworking)
  // The numbers of libcurl's ABI that are used here, which never change:
  // https://curl.se/libcurl/c/symbols-in-versions.html

  enum CurlOption {
    static let lowSpeedLimit: Int32 = 19
    static let lowSpeedTime: Int32 = 20
    static let sslVersion: Int32 = 32
    static let noBody: Int32 = 44
    static let upload: Int32 = 46
    static let freshConnect: Int32 = 74
    static let httpVersion: Int32 = 84
    static let bufferSize: Int32 = 98
    static let noSignal: Int32 = 99
    static let connectTimeout: Int32 = 156
    static let contentDecoding: Int32 = 158
    static let protocols: Int32 = 181
    static let pathAsIs: Int32 = 234
    static let suppressConnectHeaders: Int32 = 265
    static let quickExit: Int32 = 322
    static let url: Int32 = 10002
    static let proxy: Int32 = 10004
    static let httpHeader: Int32 = 10023
    static let customRequest: Int32 = 10036
    static let authorityFile: Int32 = 10065
    static let authorityFolder: Int32 = 10097
    static let acceptEncoding: Int32 = 10102
    static let connectTo: Int32 = 10243
    static let inFileSize: Int32 = 30115
    static let authorities: Int32 = 40309
  }

  enum CurlMultiOption {
    static let maxConnects: Int32 = 6
  }

  enum CurlInfo {
    static let primaryAddress: Int32 = 0x100000 + 32
    static let requestSize: Int32 = 0x200000 + 12
    static let verifyResult: Int32 = 0x200000 + 13
    static let systemError: Int32 = 0x200000 + 25
    static let connectCount: Int32 = 0x200000 + 26
    static let primaryPort: Int32 = 0x200000 + 40
    static let httpVersion: Int32 = 0x200000 + 46
    static let uploaded: Int32 = 0x600000 + 7
    static let downloaded: Int32 = 0x600000 + 8
    static let totalTime: Int32 = 0x600000 + 50
    static let lookupTime: Int32 = 0x600000 + 51
    static let connectTime: Int32 = 0x600000 + 52
    static let preTransferTime: Int32 = 0x600000 + 53
    static let startTransferTime: Int32 = 0x600000 + 54
    static let secureTime: Int32 = 0x600000 + 56
  }

  /// How a transfer ends, as far as we end it ourselves or look at the end; `TransportError` has the others.
  enum CurlCode {
    static let failedToBegin: Int32 = 2
    static let outOfMemory: Int32 = 27
    static let timedOut: Int32 = 28
    static let abortedByCallback: Int32 = 42
    static let receiveFailed: Int32 = 56
    /// The connection was lost: with HTTP/2, in the middle, without an answer, while sending or receiving.
    static let lostConnection: Set<Int32> = [16, 18, 52, 55, 56]
  }

  /// What callbacks answer in place of a count of bytes.
  enum CurlAnswer {
    static let abort = 0x1000_0000
    static let pause = 0x1000_0001
    static let writeError = 0xFFFF_FFFF
    /// A seek that cannot be done.
    static let cannotSeek: Int32 = 2
    static let prerequestAbort: Int32 = 1
  }

  enum CurlPause {
    static let receiving: Int32 = 1
    static let sending: Int32 = 4
  }
#endif
