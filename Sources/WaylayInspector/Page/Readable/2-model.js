// A row of the list: one entry of the archive, with the values for the list and the filter.

const media = [
  ['json', /[/+]json\b|\bndjson\b/], ['html', /html/], ['xml', /xml/], ['css', /css/],
  ['js', /javascript|ecmascript/], ['image', /^image\//], ['font', /font/], ['video', /^video\//], ['audio', /^audio\//],
  ['events', /event-stream/], ['form', /form-urlencoded|form-data/], ['text', /^text\//],
];

function kindOf(type) {
  if (!type) return '';
  const found = media.find(([, pattern]) => pattern.test(type));
  return found ? found[0] : (type.split('/')[1] ?? type);
}

const number = (value, other = 0) => (typeof value === 'number' && Number.isFinite(value) ? value : other);
const texts = (value) => (typeof value === 'string' ? value : '');
const list = (value) => (Array.isArray(value) ? value : []);

function fieldOf(fields, name) {
  const field = list(fields).find((one) => texts(one?.name).toLowerCase() === name);
  return field ? texts(field.value) : '';
}

class Row {
  constructor(entry, place) {
    const request = entry.request ?? {};
    const response = entry.response ?? {};
    const content = response.content ?? {};
    this.entry = entry;
    this.place = place;
    this.id = String(entry._id ?? place);
    this.start = Date.parse(entry.startedDateTime) || 0;
    this.method = texts(request.method) || 'GET';
    this.url = texts(request.url);
    this.split();
    this.status = number(response.status);
    this.error = texts(entry._error) || texts(response._error);
    this.state = texts(entry._state) || (this.error ? 'failed' : 'finished');
    this.source = texts(entry._source) || (this.status ? 'network' : '');
    this.time = Math.max(0, number(entry.time));
    this.type = (texts(content.mimeType) || fieldOf(response.headers, 'content-type')).toLowerCase();
    this.kind = kindOf(this.type.split(';')[0].trim());
    this.size = number(entry._bodySize, Math.max(number(content.size, -1), number(response.bodySize, -1)));
  }

  /** The parts of the URL, taken apart by hand: archives hold texts that are no URLs, and those are shown too. */
  split() {
    const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?/i.exec(this.url);
    this.scheme = parts ? parts[1].toLowerCase() : '';
    this.host = parts ? parts[2].replace(/^.*@/, '') : '';
    this.path = parts ? parts[3] || '/' : this.url;
    this.query = parts?.[4] ?? '';
  }

  get tone() {
    if (this.state === 'failed') return 'bad';
    if ((this.state === 'open' || this.state === 'unseen') && !this.status) return 'open';
    if (this.status >= 500) return 'bad';
    if (this.status >= 400) return 'warn';
    if (this.status >= 300) return 'move';
    return this.status ? 'good' : 'open';
  }

  get label() {
    if (this.state === 'failed') return this.status ? String(this.status) : 'failed';
    if (!this.status) return { open: '…', unseen: 'ws' }[this.state] ?? '–';
    return String(this.status);
  }

  get end() { return this.start + this.time; }

  /** A member of the JSON that is sent, also of JSON that was cut off, or else an item of the query. */
  member(name) {
    const found = new RegExp(`"${name}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(this.requestText);
    try { return found ? JSON.parse(found[1]) : new URLSearchParams(this.query).get(name) ?? ''; } catch { return ''; }
  }

  /** The name of the GraphQL operation. */
  get operation() {
    this.operationName ??= (() => {
      // Remove comments and strings before searching for names.
      const document = this.member('query').replace(/#.*|"{3}[^]*?"{3}|"(?:[^"\\\n]|\\.)*"/g, '');
      if (!document.includes('{') && !/"persistedQuery"|"query"\s*:\s*"[^"]*\{/.test(this.requestText)) return '';
      const named = /^[^{]*?\b(?:query|mutation|subscription)\s+([_a-z]\w*)/i.exec(document);
      return this.member('operationName') || (named?.[1] ?? '');
    })();
    return this.operationName;
  }

  get requestText() { return texts(this.entry.request?.postData?.text); }
  get responseText() {
    const content = this.entry.response?.content;
    return content?.encoding === 'base64' ? '' : texts(content?.text);
  }

  /** The host without its port. */
  get hostName() { return this.host.replace(/:\d*$/, '').toLowerCase(); }

  // The texts are separated, so that a search term does not match across two of them.
  get fields() {
    this.fieldText ??= folded([...list(this.entry.request?.headers), ...list(this.entry.response?.headers)]
      .flatMap((field) => [texts(field?.name), texts(field?.value)]).join('\0'));
    return this.fieldText;
  }

  /** All that free text is looked for in. Bodies are asked for by name. */
  get head() {
    const { request = {}, response = {}, serverIPAddress, comment } = this.entry;
    this.headText ??= folded([
      this.method, this.url, request.httpVersion, response.statusText, response.httpVersion, serverIPAddress, this.error, comment,
    ].map(texts).join('\0')) + `\0${this.fields}`;
    return this.headText;
  }

  get bodies() {
    this.bodyText ??= folded(`${this.requestText}\0${this.responseText}`);
    return this.bodyText;
  }

  /** The bytes of bodies that are no text, a character for each. */
  get binaries() {
    const { content } = this.entry.response ?? {};
    const coded = [texts(this.entry.request?.postData?._base64), content?.encoding === 'base64' ? texts(content.text) : ''];
    try { this.binaryText ??= folded(coded.map(atob).join('\0')); } catch { this.binaryText = ''; }
    return this.binaryText;
  }

  /** Where the parts of its time lie on a line, in milliseconds after it began. */
  get phases() {
    const timings = this.entry.timings ?? {};
    const part = (name) => Math.max(0, number(timings[name]));
    const parts = [];
    let at = 0;
    for (const name of ['blocked', 'dns', 'connect', 'send', 'wait', 'receive']) {
      const time = part(name);
      if (time <= 0) continue;
      if (name === 'connect' && part('ssl') > 0) {
        const ssl = Math.min(part('ssl'), time);
        if (time > ssl) parts.push(['connect', at, time - ssl]);
        parts.push(['ssl', at + time - ssl, ssl]);
      } else parts.push([name, at, time]);
      at += time;
    }
    return parts;
  }
}
