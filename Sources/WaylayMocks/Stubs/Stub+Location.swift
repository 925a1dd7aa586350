extension Stub {
  /// Method and URL pattern as they were written, to find the stub in its source file.
  package var written: (method: String?, url: String) { (pattern.method, pattern.url.description) }

  /// The same stub with a better idea of where it was written.
  package func relocated(to location: MockSourceLocation) -> Stub {
    with { stub in
      stub.location = location
      stub.problems = problems.map { problem in
        var problem = problem
        if problem.location == self.location { problem.location = location }
        return problem
      }
    }
  }
}
