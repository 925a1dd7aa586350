import TestSupport
import Testing
import WaylayBase

@Suite("The table of credential names")
struct CredentialNamesTests {
  @Test("each row covers its name, in any spelling, and with a number or a version at the end")
  func rows() {
    for group in CredentialNames.table {
      #expect(!group.rows.isEmpty)
      for row in group.rows {
        let plain = row.drop { "=… ".contains($0) }.replacing(" … ", with: " some ")
        let words = plain.split(separator: " ").map(String.init)
        let pascal = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let camel = words[0] + pascal.dropFirst().joined()
        var names = [
          words.joined(separator: "-"), words.joined(separator: "_"), words.joined(separator: "."),
          words.joined(separator: "-").uppercased(), pascal.joined(separator: "-"),
        ]
        if !row.hasPrefix("x … ") { names += [pascal.joined(), camel] }
        names += names.flatMap { ["\($0)2", "\($0)-256", "\($0)_v2", "__\($0)[]"] }
        if row.hasPrefix("…") {
          names += ["abcd" + words.joined(), "x-abcd" + words.joined()]
        }
        if !row.hasPrefix("="), !row.hasPrefix("x ") {
          names += ["x-foo-", "user[", "a.b."].map { $0 + pascal.joined() }
          if words[0].first?.isLetter == true { names += ["foo", "my_Foo"].map { $0 + pascal.joined() } }
          names += ["x-foo-", "foo_bar_", "FOO "].map { $0 + words.joined(separator: "-") + "]" }
          // Words that are written as one.
          if !row.contains("ed25519"), !row.contains("sha256") { names += ["foo_" + words.joined(), words.joined()] }
        }
        for name in names { #expect(CredentialNames.kind(of: name) == group.kind, "\(name), of \(row)") }
        let others = ["_list", "zz", "s-x"].map { words.joined(separator: "_") + $0 }
        for name in others { #expect(CredentialNames.kind(of: name) == nil, "\(name), of \(row)") }
        if row.hasPrefix("=") {
          #expect(CredentialNames.kind(of: "foo-" + words.joined(separator: "-")) != group.kind || words.count > 1)
        }
      }
    }
    let rows = CredentialNames.table.flatMap(\.rows)
    #expect(Set(rows).count == rows.count)
  }

  @Test("a whole name decides before what it ends in, and of that the longest row")
  func precedence() {
    for (name, kind) in [
      ("page_token", .harmless), ("next_page_token", .harmless), ("nextPageToken", .harmless),
      ("nextpagetoken", .harmless),
      ("page_access_token", .stable), ("X-page-access-token", .stable), ("previous_refresh_token", .stable),
      ("start_page_csrf_token", .changing), ("requesttoken", .changing), ("oauth_request_token", .stable),
      ("X-Acme-Key", .stable), ("X-Idempotency-Key", .harmless), ("acme_key", nil), ("key", nil), ("sid", .stable),
      ("call_sid", nil), ("one_time_password", .changing), ("password", .stable), ("ball_possession", .harmless),
      ("userPin", .stable), ("userpin", nil), ("x-acme-sign", .changing), ("zodiac_sign", nil), ("design", nil),
      ("ticket", .changing), ("X-Ticket", nil), ("ticket_id", nil), ("sas", .stable), ("X-Event-Key", .harmless),
      ("X-Acme-Event-Key", .stable), ("X-Routing-Key", .stable), ("oobCode", .changing),
    ] as [(String, CredentialNames.Kind?)] {
      #expect(CredentialNames.kind(of: name) == kind, "\(name)")
    }
  }

  @Test("credentials of well-known services are stable ones")
  func stable() {
    for name in Self.services + [
      "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "access_token", "accessToken", "ACCESS-TOKEN",
      "id_token", "id_token_hint", "refresh_token", "client_secret", "client.secret", "client_assertion",
      "SAMLResponse", "user[password]", "passwd", "new_password", "password_confirmation", "X-Amz-Credential",
      "AWSAccessKeyId", "awsaccesskeyid", "jsessionid", "PHPSESSID", "ASP.NET_SessionId", "connect.sid", "user_pin",
      "code_verifier", "oauth_token", "oauth_verifier", "oauth_consumer_key", "token\u{301}",
      "ConnectionString", "db_connection_string", "card_number", "cardNumber", "AccountKey", "SharedAccessKey",
      "sas_token", "accesstoken", "apikey", "clientsecret", "authcode", "refreshtoken", "secretkey", "userpassword",
      "X-EBAY-API-CERT-NAME", "appsecret_proof", "authuserkey", "wskey", "WSSE", "X-WSSE", "user_code", "device_code",
      "my_s\u{200D}secret\u{20DD}", "APIKey", "apiKey", "api_key", "X_API_KEY", "x-apikey", "myapikey",
      String(repeating: "a", count: 10_000) + "_token",
    ] {
      for spelling in [name, name.lowercased(), name.replacing("-", with: "_")] {
        #expect(CredentialNames.kind(of: spelling) == .stable, "\(spelling)")
      }
    }
  }

  /// Fields of requests to well-known services.
  static let services = """
    APCA-API-KEY-ID APCA-API-SECRET-KEY AccessKey Api-Key CB-ACCESS-PASSPHRASE CF-Access-Client-Secret Circle-Token \
    DD-API-KEY DD-APPLICATION-KEY Deploy-Token Fastly-Key HF-Token Helicone-Auth Job-Token KC-API-KEY \
    Klaviyo-API-Key OK-ACCESS-KEY Ocp-Apim-Subscription-Key PRIVATE-TOKEN Session-Id X-Access-Token X-Algolia-API-Key \
    X-Amz-Firehose-Access-Key X-Amz-Security-Token X-Amzn-Oidc-AccessToken X-Amzn-Oidc-Data X-ApiKey \
    X-Appwrite-JWT X-Appwrite-Key X-Auth X-Auth-Key X-Auth-Token X-Authorization X-Cassandra-Token \
    X-Cisco-Meraki-API-Key X-Consul-Token X-DreamFactory-Session-Token X-Emby-Authorization X-Emby-Token \
    X-Figma-Token X-Firebase-AppCheck X-Forwarded-Access-Token X-GEMINI-APIKEY X-GitHub-Token X-Goog-Api-Key \
    X-Goog-Firebase-Installations-Auth X-Goog-IAP-JWT-Assertion X-Guest-Token X-Hasura-Admin-Secret X-Honeycomb-Team \
    X-Insert-Key X-JFrog-Art-Api X-Jwt X-License-Key X-Line-ChannelToken X-MBX-APIKEY X-MS-TOKEN-AAD-ACCESS-TOKEN \
    X-MS-CLIENT-PRINCIPAL X-Mashape-Key X-Naver-Client-Secret X-NuGet-ApiKey X-Octopus-ApiKey X-Ovh-Application \
    X-PW-AccessToken X-Parse-Master-Key X-Parse-REST-API-Key X-Parse-Session-Token X-Plex-Token \
    X-Postmark-Server-Token X-Query-Key X-RapidAPI-Key X-Redmine-API-Key X-Riot-Token X-Sentry-Auth X-Session-Token \
    X-Shopify-Access-Token X-Shopify-Storefront-Access-Token X-Subject-Token X-Subscription-Token X-TOKEN \
    X-Tableau-Auth X-Telegram-Bot-Api-Secret-Token X-Transmission-Session-Id X-Trino-Extra-Credential \
    X-Typesense-API-Key X-Vault-Token X-ZUMO-AUTH x-functions-key x-ms-encryption-key xi-api-key zotero-api-key
    """.split(separator: " ").map(String.init)

  @Test("signatures, proofs and tokens against forgery and replay are changing ones")
  func changing() {
    for name in [
      "X-CSRF-Token", "X-XSRF-TOKEN", "CSRF-Token", "XSRF-TOKEN", "X-CSRFToken", "csrf_token", "_csrf",
      "csrfmiddlewaretoken",
      "authenticity_token", "__RequestVerificationToken", "X-WP-Nonce", "_wpnonce", "nonce", "cnonce", "DPoP",
      "DPoP-Nonce", "Signature", "Signature-Input", "X-Signature", "X-Amz-Signature", "sig", "X-Hub-Signature",
      "X-Hub-Signature-256", "Stripe-Signature", "X-Line-Signature", "X-Slack-Signature", "X-Signature-Ed25519",
      "X-Shopify-Hmac-Sha256", "X-NCP-APIGW-SIGNATURE-V2", "OK-ACCESS-SIGN", "X-BAPI-SIGN", "sign", "X-GitHub-OTP",
      "oauth_signature", "oauth_nonce", "otp", "mfaCode", "g-recaptcha-token", "oobCode", "ticket",
      "SharedAccessSignature", "Jenkins-Crumb", ".crumb", "hdnts", "hdnea", "hdntl",
    ] { #expect(CredentialNames.kind(of: name) == .changing, "\(name)") }
  }

  @Test("ordinary names are no credentials, whatever they sound like")
  func harmless() {
    for name in [
      "", "-", "é", "1", "v2", "Accept", "Accept-Encoding", "Content-Type", "Content-Security-Policy", "Host", "Range",
      "ETag", "Idempotency-Key", "Sec-WebSocket-Key", "traceparent", "tracestate", "X-Request-Id", "X-Correlation-Id",
      "X-Amzn-Trace-Id", "X-Auth-Email", "X-Auth-User", "X-Client-Id", "X-Parse-Application-Id", "X-Amz-Date",
      "X-Amz-Content-Sha256", "X-Amz-SignedHeaders", "X-Goog-User-Project", "X-Requested-With", "X-Device-Id",
      "Sentry-Trace", "Sync-Token", "Lock-Token", "X-Atlassian-Token", "WWW-Authenticate", "Authentication-Info",
      "X-Session-Affinity", "X-Token-Expires", "page", "page_token", "continuation_token", "NextToken", "$skiptoken",
      "sort_key", "primary_key", "public_key", "keyword", "keys", "token_type", "expires_in", "max_tokens",
      "input_tokens", "author", "authors", "country_code", "postal_code", "zipcode", "code", "state", "session_count",
      "cookie_policy", "password_policy", "secret_name", "api_key_name", "signature_method", "code_challenge",
      "client_assertion_type", "scope", "patient_id", "toke", "monkey", "opinion", "design", "campaign", "spinning",
      "compass", "secretary", "tokenizer", "passenger", "obsession", "Keynote", "basis", "sidebar", "inside",
      "hotkey", "turkey", "whiskey", "announce", "count", "passed", "bypass", "boarding_pass", "tickets", "map_key",
      "X-Shard-Key", "X-Sharding-Key", "X-Cache-Key", "X-Partition-Key", "X-Sort-Key", "X-Idempotency-Key",
      "X-Surrogate-Key", "X-Ordering-Key", "X-Affinity-Key", "X-Correlation-Key", "X-Lookup-Key", "X-Dedupe-Key",
      "X-Clustering-Key", "X-Distribution-Key", "X-Composite-Key", "X-Event-Key", "jira_ticket", "ticketNumber", "sass",
      "X-Line-Retry-Key", "Accept-Signature", "buyToken", "sellToken", "X-Message-Key", "X-Translation-Key",
      "X-Object-Key", "X-Project-Key", "X-Group-Key", "breadcrumb", "newsKey",
    ] { #expect(!CredentialNames.isCredential(name), "\(name)") }
  }

  @Test("names compare without case and punctuation, in any script")
  func normalized() {
    #expect(CredentialNames.normalized("X-Api_Key[0]") == "xapikey0")
    #expect(CredentialNames.normalized("Schl\u{DC}ssel Wort") == CredentialNames.normalized("schl\u{FC}ssel-wort"))
    let words = ["AWSAccessKeyId", "sort_key", "SORTKey", "S3Bucket", "userIDs"].map {
      CredentialNames.words(of: $0).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(
      words == [
        ["aws", "access", "key", "id"], ["sort", "key"], ["sort", "key"], ["s3", "bucket"], ["user", "ids"],
      ])
  }
}
