import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayHAR

/// Documented responses of public interfaces, with members whose names sound like credentials.
enum Ordinary {
  static let documents: [(String, String)] = [
    (
      "OpenAI, chat",
      #"{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion","created":1741569952,"model":"gpt-4.1-2025-04-14","usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":5,"accepted_prediction_tokens":0}},"max_tokens":null,"logprobs":{"content":[{"token":"Hello","logprob":-0.31,"bytes":[72,101],"top_logprobs":[]}]}}"#
    ),
    (
      "Anthropic, messages",
      #"{"id":"msg_013Zva2CMHLNnXjNJJKqJ2EF","type":"message","stop_reason":"max_tokens","usage":{"input_tokens":2095,"output_tokens":503,"cache_creation_input_tokens":2051},"input_tokens":2095}"#
    ),
    (
      "Gemini",
      #"{"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":41,"totalTokenCount":49,"thoughtsTokenCount":12,"promptTokensDetails":[{"modality":"TEXT","tokenCount":8}]},"inputTokenLimit":1048576,"tokenizer":"o200k_base"}"#
    ),
    (
      "Hugging Face",
      #"{"pad_token":"[PAD]","eos_token_id":50256,"model_max_length":1024,"tokenizer_class":"GPT2Tokenizer","special_tokens":{"bos":"<s>"},"word":"token"}"#
    ),
    (
      "conference",
      #"{"sessions":[{"id":1,"title":"Keynote","room":"A","speakers":["Ada"],"starts_at":"2026-06-01T09:00:00Z"},{"id":2,"title":"Swift on Linux","room":"B2-104"}],"session_count":2,"sessionTypes":["talk","lab"]}"#
    ),
    (
      "S3",
      #"{"Contents":[{"Key":"photos/2026/January/sample.jpg","ETag":"\"70ee1738b6b21e2c8a43f3a5ab0eee71\"","Size":142863,"StorageClass":"STANDARD"},{"Key":"uploads/3f9a8b7c6d5e4f3a.png"},{"Key":"backup-2026-01-02.tar.gz"}],"KeyCount":3,"MaxKeys":1000,"NextContinuationToken":"1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=","KeyMarker":"","IsTruncated":false}"#
    ),
    (
      "YouTube",
      #"{"kind":"youtube#searchListResponse","etag":"q7PTjhYwz","nextPageToken":"CAUQAA","prevPageToken":"CAUQAQ","pageInfo":{"totalResults":4249,"resultsPerPage":5}}"#
    ),
    (
      "Google Drive and Calendar",
      #"{"nextPageToken":"~!!~AI9FV7Tc4k5BiAr1Ckwyu","startPageToken":"112","newStartPageToken":"113","nextSyncToken":"CPDAlvWDx70CEPDAlvWDx70CGAU=","incompleteSearch":false}"#
    ),
    (
      "an app's texts",
      #"{"login.password.label":"Password","login.password.placeholder":"Enter your password","login.token.expired":"Your session has expired, sign in again","forgot_password":"Forgot your password?","errors.invalid_token":"This link is no longer valid","settings.pin.title":"Change your PIN","password_reset_sent":"We have sent you an e-mail","show_password":"Show password"}"#
    ),
    (
      "a password policy",
      #"{"password_policy":{"min_length":8,"require_digit":true,"description":"At least 8 letters"},"password_expires_at":"2026-12-01T00:00:00Z","password_changed":false,"must_change_password":true,"password_strength":"strong","passwordLastSet":1700000000}"#
    ),
    (
      "OpenID Connect",
      #"{"issuer":"https://accounts.example.com","token_endpoint":"https://oauth2.example.com/token","authorization_endpoint":"https://accounts.example.com/o/oauth2/v2/auth","token_endpoint_auth_methods_supported":["client_secret_post","client_secret_basic"],"id_token_signing_alg_values_supported":["RS256"],"end_session_endpoint":"https://accounts.example.com/logout"}"#
    ),
    (
      "a token's frame",
      #"{"token_type":"Bearer","expires_in":3599,"scope":"openid email","refresh_token_expires_in":7775999,"token_use":"access"}"#
    ),
    (
      "JWKS",
      #"{"keys":[{"kty":"RSA","alg":"RS256","use":"sig","kid":"9341dedeee2d1869b657fa930300082fe26b3d92","e":"AQAB","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc"}]}"#
    ),
    (
      "Jira",
      #"{"issues":[{"id":"10002","key":"ED-1","fields":{"status":{"name":"Open","statusCategory":{"key":"new"}},"project":{"key":"EX-42"}}}],"expand":"schema,names","keys":["ED-1","ED-2"]}"#
    ),
    (
      "Stripe",
      #"{"id":"card_1MvoiELkdIwHu7ixOeFGbN4D","object":"card","brand":"Visa","cvc_check":"pass","fingerprint":"mToisGZ01V71BCos","exp_month":4,"tokenization_method":null,"livemode":false,"publishable_key":"pk_test_TYooMQauvdEDq54NiTphI7jx"}"#
    ),
    (
      "Ethereum",
      #"{"tokenSymbol":"USDT","tokenName":"Tether USD","tokenDecimal":"6","tokenAddress":"0xdac17f958d2ee523a2206206994597c13d831ec7","tokenID":"4711","token_count":3,"holders":12}"#
    ),
    (
      "CoinGecko",
      #"{"id":"bitcoin","asset_platform_id":null,"token_price":{"usd":1.0},"tokens":[{"symbol":"usdc","chainId":1,"decimals":6}],"total_token_supply":21000000}"#
    ),
    (
      "Elasticsearch",
      #"{"tokens":[{"start_offset":0,"end_offset":3,"type":"<ALPHANUM>","position":0}],"aggregations":{"sizes":{"buckets":[{"key":"small","doc_count":3},{"key":42,"doc_count":1},{"key":1700000000000,"key_as_string":"2026-01-01T00:00:00.000Z","doc_count":7}]}}}"#
    ),
    (
      "Open Library",
      #"{"key":"/works/OL45883W","author_key":["OL34184A"],"cover_edition_key":"OL51711263M","title":"Fantastic Mr Fox"}"#
    ),
    (
      "GitHub",
      #"{"id":1296269,"keys_url":"https://api.github.com/repos/octocat/Hello-World/keys{/key_id}","two_factor_authentication":true,"web_commit_signoff_required":false,"security_and_analysis":{"secret_scanning":{"status":"enabled"},"secret_scanning_push_protection":{"status":"disabled"}},"secrets_url":"https://api.github.com/x","verification":{"verified":false,"reason":"unsigned","signature":null},"total_count":2,"authorizations_url":"https://api.github.com/authorizations{/id}"}"#
    ),
    (
      "GitLab",
      #"{"id":1,"name":"my-token","revoked":false,"active":true,"scopes":["api"],"token_expires_at":"2026-01-31","keep_latest_artifact":true,"ci_job_token_scope_enabled":false,"secret_push_protection_enabled":true,"auto_cancel_pending_pipelines":"enabled"}"#
    ),
    (
      "Google Analytics",
      #"{"metrics":{"sessions":1204,"sessionsPerUser":1.3,"averageSessionDuration":"00:02:31","bounceRate":0.41,"sessionDefaultChannelGroup":"Organic Search"},"dimensions":["sessionSource","sessionMedium"]}"#
    ),
    (
      "DynamoDB",
      #"{"Count":2,"ScannedCount":2,"LastEvaluatedKey":{"Id":{"S":"item-42"},"Range":{"N":"17"}},"KeySchema":[{"AttributeName":"Id","KeyType":"HASH"}],"sort_key":"name","PartitionKey":"user#42","primary_key":"id"}"#
    ),
    (
      "Kubernetes",
      #"{"kind":"Secret","type":"kubernetes.io/service-account-token","metadata":{"name":"default-token","continue":"","remainingItemCount":3},"imagePullSecrets":[{"name":"regcred"}],"automountServiceAccountToken":true,"secretName":"tls"}"#
    ),
    (
      "OpenAPI",
      #"{"securitySchemes":{"api":{"type":"apiKey","in":"header","name":"X-API-Key"}},"properties":{"password":{"type":"string","format":"password","description":"The new password"},"token":{"type":"string"}},"required":["email","password"]}"#
    ),
    (
      "Firebase",
      #"{"kind":"identitytoolkit#VerifyPasswordResponse","registered":true,"expiresIn":"3600","passwordUpdatedAt":1700000000000,"providerUserInfo":[{"providerId":"password"}]}"#
    ),
    (
      "Twilio",
      #"{"sid":"SM1f0e8ae6ade43cb3c0ce4525424e404f","account_sid":"ACaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","status":"sent","num_segments":"1","price_unit":"USD"}"#
    ),
    (
      "Twitter",
      #"{"meta":{"result_count":5,"next_token":"b26v89c19zqg8o3fosckn6z1z","previous_token":"77qp89c19zqg8o3fosckn6z1z","newest_id":"1337122535188652033"}}"#
    ),
    (
      "Spotify",
      #"{"key":9,"mode":1,"key_confidence":0.408,"sections":[{"key":9}],"authorized":true,"is_private_session":false}"#
    ),
    (
      "India Post",
      #"{"Pincode":"110001","PINCodeList":["110002"],"opinion":"good","spinning":true,"compass":"NE","monkey":"banana","passengers":3,"secretary":"Ada","tokenized":false,"keyboard":"de","hockey":{"team":"Bears"},"authentic":true,"author":"Ada","sigma":2,"cookie_consent":"accepted","cookies_enabled":true}"#
    ),
    (
      "Discord and a wiki",
      #"{"nonce":"342","tts":false,"mention_roles":[],"guild_hashes":{"version":1},"batchcomplete":"","continue":{"sroffset":10,"continue":"-||"},"query":{"searchinfo":{"totalhits":5060},"tokens":{}},"login_required":false,"secretaries":["Ada","Grace"],"passing":true,"tokenless":"yes","session_length":3600,"sessions_per_day":[1,2,3]}"#
    ),
    (
      "Slack",
      #"{"ok":true,"response_metadata":{"next_cursor":"dGVhbTpDMDYxRkE1UEI="},"channel":{"id":"C012AB3CD","is_private":true},"warning":"missing_charset","token_rotation_enabled":false,"bot_auth_type":"none"}"#
    ),
    (
      "Azure",
      #"{"value":[{"keyName":"key1","permissions":"FULL","keyType":"RSA"}],"nextLink":"https://management.azure.com/x?api-version=2026-01-01","passwordCredentials":[],"keyCredentials":[],"tokenEncryptionKeyId":null,"keys":["2026-01-01","key1","key2"]}"#
    ),
    (
      "Shopify and a shop",
      #"{"metafields":[{"namespace":"global","key":"title_tag","value":"Red shoes"},{"key":"washing.care","value":"30"}],"cart_token_expires":"2026-01-01","gift_card_pin_required":false,"payment_session_scope":"shop-1","sku":"A-17","checkout_key_date":"2026-02-03"}"#
    ),
    (
      "Cloud Storage",
      #"{"items":[{"name":"a.txt","id":"b/a.txt/1","selfLink":"https://www.googleapis.com/storage/v1/b/b/o/a.txt","metageneration":"1"}],"pageToken":"CgVhLnR4dA==","kmsKeyName":"projects/p/locations/l/keyRings/r/cryptoKeys/k","nextPageToken":"CgViLnR4dA=="}"#
    ),
    (
      "tokens of a ledger",
      #"{"baseToken":{"address":"0xdac17f958d2ee523a2206206994597c13d831ec7","name":"Solana","symbol":"SOL","decimals":"6","total_supply":21000000},"token":{"name":"USD Coin","icon_url":"https://a.test/i.png","exchange_rate":"1.00","holders":4}}"#
    ),
    (
      "policies of sessions and passwords",
      #"{"session":{"maxSessionIdleMinutes":720,"mode":"non-persistent"},"password":{"complexity":{"minLength":8,"minLowerCase":1},"age":{"historyCount":4},"lockout":{"maxAttempts":10}},"refresh_token":{"token_lifetime":2592000,"expiration_type":"expiring"},"totp":{"issuer":"Acme","time_step":30}}"#
    ),
    (
      "a schema",
      ##"{"properties":{"password":{"minLength":8,"pattern":"^.{8,}$"},"token":{"$ref":"#/$defs/token"}},"$defs":{"token":{"const":"abc"}},"securitySchemes":{"bearerAuth":{"scheme":"bearer","bearerFormat":"JWT"}},"flows":{"password":{"tokenUrl":"https://a.test/token","scopes":{"read":"Read"}}}}"##
    ),
    (
      "pieces of words",
      #"{"logprobs":{"content":[{"token":" there","logprob":-0.1},{"token":"<|end|>","logprob":-0.2,"bytes":[60]}]},"topCandidates":[{"token":"Artificial","logProbability":-0.3}],"fill":[{"score":0.1,"token":1996,"token_str":"cap"}],"tokens":[{"token":"2026","start_offset":0}]}"#
    ),
    (
      "messages about fields",
      #"{"errors":{"password":["The password must be at least 8 characters."],"access_token":["is invalid"]},"field_errors":{"pin":["must be 4 digits"]},"token":["This field may not be blank."]}"#
    ),
    (
      "texts by their words",
      #"{"password":"Password","confirmPassword":"Confirm password","login":{"password":{"label":"Password"}},"auth":{"failed":"Diese Zugangsdaten stimmen nicht."}}"#
    ),
    (
      "packages and settings",
      #"{"dependencies":{"cookie":"^0.7.1","csrf-token":"1.0.0","js-tokens":"^4.0.0 || ^5.0.0"},"apiKey":"YOUR_API_KEY","token":"{{token}}","header":"Bearer <token>","automountServiceAccountToken":"false","scriptPubKey":{"address":"bc1q"},"obsession":"tea","session":"morning","sessions":[{"session_id":2172}]}"#
    ),
    (
      "httpbin and a calendar",
      #"{"cookies":{},"headers":{"Accept":"*/*","Sec-Fetch-Mode":"cors"},"auth":false,"authenticated":true,"user":"ada","signature_required":true,"signatures_count":2,"pin_count":4,"is_pinned":true,"otp_enabled":false,"token_limit":{"daily":1000,"monthly":30000},"api_key_count":1,"apiKeys":[],"secrets":[],"passwords":null,"session":null}"#
    ),
  ]

  /// The values of a document by their places, in a form that tells their types apart.
  static func values(_ json: JSONValue, _ place: String = "$") -> [(String, JSONValue)] {
    if let object = json.object { return object.flatMap { values($1, "\(place).\($0)") } }
    if let array = json.array { return array.enumerated().flatMap { values($1, "\(place)[\($0)]") } }
    return [(place, json)]
  }
}

@Suite("Corpora of secrets and of ordinary values")
struct CorpusTests {
  private func redacted(_ type: String, _ body: String) -> String {
    String(
      decoding: Redaction.standard.redacted(Plantings.entry(Data(body.utf8), type)).response.body.data, as: UTF8.self)
  }

  @Test("of public interfaces lose at most two values of a hundred, and each keeps its type")
  func ordinary() throws {
    var (changed, count): ([String], Int) = ([], 0)
    for (name, body) in Ordinary.documents {
      let (old, new) = (
        Ordinary.values(try JSONValue(parsing: body)),
        Ordinary.values(try JSONValue(parsing: redacted("application/json", body)))
      )
      let after = Dictionary(new) { $1 }
      #expect(old.count == new.count, "\(name)")
      count += old.count
      for (place, value) in old where after[place] != value {
        changed.append("\(name): \(place) was \(value), is \(after[place] ?? nil)")
        #expect(value.string == nil || after[place]?.string != nil, "\(changed)")
        #expect(value.double == nil || after[place]?.double != nil, "\(changed)")
        // A type of Foundation reads these.
        #expect(value.string?.contains(/^\d{4}-\d\d-|:\/\//) != true, "\(changed)")
      }
    }
    #expect(count > 300 && changed.count <= 6, "\(count): \(changed.joined(separator: "\n"))")
  }

  @Test("of clients and servers leave no secret in any shape")
  func secrets() throws {
    var (leaks, count): ([String], Set<String>) = ([], [])
    for (index, name) in Secrets.names.enumerated() {
      for (number, secret) in Secrets.values.enumerated() where (index + number) % 2 == 0 || number < 2 {
        for (type, body) in Secrets.shapes(name, secret) {
          count.insert(body)
          if redacted(type, body).contains(secret) || redacted(type, body).contains(Plantings.escaped(secret)) {
            leaks.append("\(type): \(body)")
          }
        }
      }
    }
    for secret in Secrets.known {
      for (type, body) in Secrets.places(secret) {
        count.insert(body)
        let text = redacted(type, body)
        if text.contains(secret.suffix(12)) || text.contains("MIIE") { leaks.append("\(type): \(body)") }
      }
    }
    for body in Secrets.plurals where redacted("application/json", body).contains("pl4nted") { leaks.append(body) }
    #expect(count.count > 300 && leaks.isEmpty, "\(count.count): \(leaks.joined(separator: "\n"))")
  }

  @Test("of three hundred made-up secrets, in more than 120 shapes, leak at most three")
  func madeUp() {
    var dice = SplitMix(state: 41)
    let alphabets = ["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "0123456789abcdef", "aZ9!@._~-"]
    func secret(_ number: Int) -> String {
      func letters() -> String {
        let length = Int.random(in: 4..<16, using: &dice)
        return String((0..<length).compactMap { _ in alphabets[number % 3].randomElement(using: &dice) })
      }
      return letters() + "1\(Plantings.mark)" + letters()
    }
    var (leaks, shapes): ([String], Int) = ([], 0)
    let names = ["user_password", "refreshToken", "api_key"]
    for (number, name) in names.enumerated() {
      let entries =
        Plantings.each(name, secret).map(\.entry)
        + Secrets.shapes(name, secret(number)).map { Plantings.entry(Data($1.utf8), $0) }
      shapes = entries.count
      leaks += entries.filter { Plantings.isSeen(in: Redaction.standard.redacted($0)) }.map {
        String(decoding: $0.data(), as: UTF8.self)
      }
    }
    #expect(shapes > 120 && leaks.count <= 3, "\(shapes): \(leaks.joined(separator: "\n"))")
  }

  @Test("lose what looks like an exception, but is under the name of a credential")
  func exceptions() {
    for body in [
      #"{"session_pin":9876543}"#, #"{"laravel_session":"pqpl4ntedrst"}"#, #"{"session_secret":1234567}"#,
      #"[{"name":"password","type":"password","value":"pl4nted"}]"#, #"[{"type":"password","content":"pl4ntedx"}]"#,
      #"[{"id":"password","value":"pl4nted"}]"#, #"{"ssn":"756.1234.5678.97"}"#, #"{"password":"24.12.1985"}"#,
      #"{"password":"pl4nted}"}"#, #"{"password":"yourpl4nted"}"#, #"{"passphrase":"Correct horse battery pl4nted!"}"#,
      #"{"passphrase":"Correct horse battery staple!"}"#, #"{"messages":[{"password":"blue sky"}]}"#,
      #"{"terrorist":{"password":"blue sky"}}"#, #"{"error":{"cookie":"session=pl4nted; b=2; c=3"}}"#,
      #"{"errors":[{"extensions":{"headers":{"Authorization":"Bearer abcdefgh"}}}]}"#,
      #"{"client_secret":"t"}"#, #"{"secret":"my secret garden"}"#,
      #"{"properties":{"password":{"value":"pl4nted"}}}"#, #"{"properties":{"password":["pl4nted"]}}"#,
      #"{"properties":{"password":{"type":"string","default":"pl4nted"}}}"#,
      #"{"properties":{"credential":{"secretText":"pl4nted2x"}}}"#, #"{"token":"sekrit-12345","position":1}"#,
      #"{"token":" pl4nted-secret"}"#, #"{"token":"1234-56-7890-1234"}"#, #"{"totp_code":"123456"}"#,
      #"{"version_token":"pl4nted2x"}"#, #"{"session":{"state":{"id":"pl4nted2x"}}}"#,
    ] {
      let text = redacted("application/json", body)
      #expect(text != body && !text.contains("pl4nted"), "\(body) became \(text)")
    }
  }

  @Test("of scripts, YAML and prose stay what they are where a list or a block is redacted")
  func lists() {
    let cases = [
      ("text/javascript", "passwords = [\"a1\" + b, \"c2d3e4\"];", "passwords = [\"a1\" + b, \"REDACTED\"];"),
      ("text/javascript", "passwords = ['a1'.trim(), 'b2'.trim()]", "passwords = ['a1'.trim(), 'b2'.trim()]"),
      ("text/javascript", "tokens = [`a1${b2}`, 'c3d4e']", "tokens = [`a1${b2}`, 'REDACTED']"),
      ("text/javascript", "rules = {password: ['min:8', 'max:20']}", "rules = {password: ['min:8', 'max:20']}"),
      (
        "application/yaml", "- token: >\n    a1b2 c3d4\n  user: ada\n  host: b\n",
        "- token: >\n    REDACTED\n  user: ada\n  host: b\n"
      ),
      (
        "application/yaml", "passwords:\n  - \"ab:cdef1\"\n  - x # a: b\n",
        "passwords:\n  - \"REDACTED\"\n  - REDACTED # a: b\n"
      ),
      ("application/yaml", "passwords: [h2x, \"p@ss]w0rd\", x]\n", "passwords: [REDACTED, \"REDACTED\", REDACTED]\n"),
      ("application/yaml", "session: 10.0.0.1\npin: 12\n", "session: REDACTED\npin: 0\n"),
      ("text/plain", "Passwords:\n- must be long\n", "Passwords:\n- must be long\n"),
      ("text/plain", "See token: [docs](https://a.test/)", "See token: [docs](https://a.test/)"),
      ("text/plain", "password, please\nhello, bob\n", "password, please\nhello, bob\n"),
      (
        "text/xml", "<dict><key>pin</key><integer>-5</integer></dict>",
        "<dict><key>pin</key><integer>0</integer></dict>"
      ),
    ]
    for (type, body, expected) in cases { #expect(redacted(type, body) == expected) }
  }

  @Test("of payment lose numbers of cards and accounts where that is wished")
  func payment() {
    var redaction = Redaction.standard
    let body =
      #"{"pan":"4111 1111 1111 1111","text":"pay 5555555555554444 from DE89 3704 0044 0532 0130 00, order 4111111111111112"}"#
    let entry = Plantings.entry(Data(body.utf8), "application/json")
    #expect(redaction.redacted(entry) == entry)
    redaction.hidesPaymentNumbers = true
    #expect(
      redaction.redacted(entry).response.body.text
        == #"{"pan":"REDACTED","text":"pay REDACTED from REDACTED, order 4111111111111112"}"#)
  }

  @Test("list what was replaced by its place, so that a 0 is known for what it is")
  func places() {
    let entry = Plantings.entry(
      url: "https://a.test/?token=pl4nted1", Data(#"{"pin":4711,"a":[{"card_pin":"1234"}],"n":0}"#.utf8),
      "application/json")
    let redacted = Redaction.standard.redacted(entry)
    #expect(redacted.request.body?.text == #"{"pin":0,"a":[{"card_pin":"REDACTED"}],"n":0}"#)
    let list = redacted.extensions["_redacted"]?.object ?? [:]
    #expect(
      Set(list.keys).isSuperset(of: [
        "request.url.token", "request.body.pin", "request.body.a.0.card_pin", "response.body.pin",
      ])
        && list.values.allSatisfy(\.isNull), "\(list)")
    #expect(Redaction.standard.redacted(redacted) == redacted)
  }
}
