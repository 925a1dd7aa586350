// Shows bodies, only as text.

const shownAtOnce = 300_000;

/** Bytes of base64, the first of them as a table of hexadecimal numbers. */
function hexadecimal(base64, most = 2048) {
  let raw;
  try {
    raw = atob(base64.replace(/\s/g, '').slice(0, Math.ceil(most / 3) * 4));
  } catch {
    return 'These bytes cannot be read.';
  }
  const lines = [];
  for (let at = 0; at < Math.min(raw.length, most); at += 16) {
    const codes = [...raw.slice(at, at + 16)].map((letter) => letter.charCodeAt(0));
    const hex = codes.map((code) => code.toString(16).padStart(2, '0')).join(' ');
    const text = codes.map((code) => (code > 31 && code < 127 ? String.fromCharCode(code) : '·')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(48)} ${text}`);
  }
  return lines.join('\n');
}

const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;

/** JSON with its parts in colours: texts in elements, no markup. */
function coloured(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(tokens)) {
    if (found.index > at) parts.push(text.slice(at, found.index));
    if (found[2] !== undefined) parts.push(make('span', { class: 'k' }, found[1]), found[2]);
    else parts.push(make('span', { class: found[1] ? 's' : found[3] ? 'w' : 'n' }, found[0]));
    at = found.index + found[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** JSON indented without reading its numbers, which may have more digits than a number of this language can hold. */
function indented(text) {
  JSON.parse(text);
  let out = '';
  let depth = 0;
  const newLine = () => `\n${'  '.repeat(Math.min(depth, 100))}`;
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (part === '{' || part === '[') {
      depth += 1;
      out += part + newLine();
    } else if (part === '}' || part === ']') {
      depth -= 1;
      out = /[{[]\s*$/.test(out.slice(-220)) ? out.trimEnd() + part : out + newLine() + part;
    } else if (part === ',') out += part + newLine();
    else out += part === ':' ? ': ' : part;
  }
  return out;
}

/** A form, a name and a value a line. */
function formLines(text) {
  return text.split('&').map((pair) => {
    const [name, ...value] = pair.split('=').map((part) => {
      try { return decodeURIComponent(part.replaceAll('+', ' ')); } catch { return part; }
    });
    return `${name} = ${value.join('=')}`;
  }).join('\n');
}

/** Server-sent events, each with its name, its id and its data (HTML, section 9.2.6). */
function eventLines(text) {
  const shown = [];
  let [type, id, data] = ['', '', []];
  const close = (note = '') => {
    let body = data.join('\n');
    try { body = indented(body); } catch { /* No JSON. */ }
    if (data.length) shown.push(`${[type || 'message', id && `id ${id}`, note].filter(Boolean).join(', ')}\n${body}`);
    [type, data] = ['', []];
  };
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (line === '') close();
    else if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id') id = value;
  }
  close('not complete');
  return shown.join('\n\n');
}

function isCut(container, size, kept) {
  return container?._truncated === true || (size >= 0 && kept >= 0 && size > kept);
}

/** The part of the page that shows a body. */
function bodyView(title, { text, base64, type, size, cut }) {
  const kind = kindOf((type ?? '').split(';')[0].trim().toLowerCase());
  const heading = make('h2', {}, title, make('small', {}, [bytes(size), kind].filter(Boolean).join(', ')));
  if (base64) {
    const note = make('p', { class: 'note' }, 'Not text. The beginning, byte by byte:');
    return [heading, note, make('pre', { class: 'body wide' }, hexadecimal(base64)), cut && cutNote(size)];
  }
  if (!text) return [heading, make('p', { class: 'note' }, size > 0 ? `${bytes(size)}, not kept.` : 'Empty.')];
  let pretty = null;
  if (kind === 'json' || /^\s*[[{]/.test(text.slice(0, 200))) try { pretty = indented(text); } catch { pretty = null; }
  else if (kind === 'events') pretty = eventLines(text) || null;
  else if (kind === 'form' && !/multipart/.test(type)) pretty = formLines(text);
  const body = make('pre', { class: 'body', tabindex: '0' });
  let isPretty = pretty !== null;
  const show = (all = false) => {
    const shown = isPretty ? pretty : text;
    const part = all ? shown : shown.slice(0, shownAtOnce);
    body.replaceChildren(...(isPretty && kind !== 'form' && part.length <= shownAtOnce ? coloured(part) : [part]));
    if (part.length < shown.length) {
      body.append('\n\n', make('button', { onclick: () => show(true) }, `Show all of ${grouped(shown.length)} characters`));
    }
  };
  const toggle = make('button', {
    onclick: () => {
      isPretty = !isPretty;
      toggle.textContent = isPretty ? 'As sent' : 'Readable';
      show();
    },
  }, 'As sent');
  heading.append(make('span', { class: 'spring' }), pretty === null ? '' : toggle,
    make('button', { onclick: () => copy(text, 'Body') }, 'Copy'));
  show();
  return [heading, body, cut && cutNote(size)];
}

const cutNote = (size) =>
  make('p', { class: 'note' }, `Only the beginning was kept${size > 0 ? ` of ${bytes(size)}` : ''}.`);

function requestBody(row) {
  const data = row.entry.request?.postData;
  if (!data) return null;
  const text = texts(data.text);
  const size = number(row.entry.request.bodySize, number(data._size, text.length));
  return { text, base64: texts(data._base64), type: texts(data.mimeType), size: Math.max(size, 0), cut: isCut(data) };
}

function responseBody(row) {
  const content = row.entry.response?.content ?? {};
  const isBinary = content.encoding === 'base64';
  const text = texts(content.text);
  return {
    text: isBinary ? '' : text, base64: isBinary ? text : '', type: row.type, size: Math.max(row.size, 0),
    cut: isCut(content) || row.entry._truncated === true,
  };
}
