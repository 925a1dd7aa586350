/// The media types of the usual files.
package enum MediaType {
  /// The type of files with that extension; `nil` for one that is not known.
  package static func of(pathExtension: String) -> String? { types[pathExtension.lowercased()] }

  private static let types = [
    "css": "text/css; charset=utf-8", "csv": "text/csv; charset=utf-8", "gif": "image/gif",
    "htm": "text/html; charset=utf-8",
    "html": "text/html; charset=utf-8", "jpeg": "image/jpeg", "jpg": "image/jpeg",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json", "md": "text/markdown; charset=utf-8", "mov": "video/quicktime", "mp3": "audio/mpeg",
    "mp4": "video/mp4", "pdf": "application/pdf", "png": "image/png", "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "webp": "image/webp", "woff2": "font/woff2", "xml": "application/xml", "zip": "application/zip",
  ]
}
