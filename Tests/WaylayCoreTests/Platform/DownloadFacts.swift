#if canImport(FoundationNetworking)
  import Foundation
  import Testing

  @testable import WaylayCore

  @Suite("Platform facts: the file of a download task", .facts, .timeLimit(.minutes(5)))
  struct DownloadFacts {
    @Test("P28: a download task's file is taken from a property of the protocol object that can be written")
    func downloadedFile() throws {
      #expect(
        TaskInternals.servesDownloads,
        "P28 has changed: download tasks of intercepted sessions are refused with this toolchain")
      let loader = Probe(request: URLRequest(url: .example), cachedResponse: nil, client: nil)
      let file = URL(fileURLWithPath: "/tmp/waylay-p28")
      #expect(TaskInternals.downloadedFile(of: loader) == nil)
      try TaskInternals.setDownloadedFile(file, of: loader)
      #expect(
        TaskInternals.downloadedFile(of: loader) == file,
        "P28 has changed: what is written is not what the loading system reads")
      let names = Mirror(reflecting: loader).superclassMirror?.children.compactMap(\.label)
      #expect(names?.first == "properties", "P28 has changed: the property is not the first one any more")
    }

    @Test(
      "P28: the loading system ignores resume data: its task fails without asking a protocol class",
      .timeLimit(.minutes(1)))
    func resumeData() async {
      let (session, _) = Probe.session()
      let code = await handed(URLError.Code?.self) { hand in
        let task = session.downloadTask(withResumeData: Data("x".utf8)) { _, _, error in
          hand((error as? URLError)?.code)
        }
        // Such a task has a queue of its own, and is entered into its session's table on the session's: resumed before
        // that, it ends the process with "not in the registry" (P32). The answer comes when it has been entered.
        session.getAllTasks { _ in task.resume() }
      }
      #expect(code == URLError.Code.unsupportedURL, "P28 has changed: a task with resume data asks its protocol class")
    }
  }
#endif
