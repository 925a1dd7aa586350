// The search language of the Inspector: terms that must all hold, `name:value` or free text, `-` before one for "not".

const units = { ms: 1, s: 1000, m: 60_000, min: 60_000, b: 1, k: 1e3, kb: 1e3, mb: 1e6, gb: 1e9 };

/** `>500ms`, `<=2s`, `100kb`: a comparison of numbers; null where it is none. */
function comparison(text, isExact) {
  const parts = /^(>=|<=|>|<|=)?\s*(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text);
  if (!parts || !(parts[3] === '' || parts[3] in units)) return null;
  const bound = Number(parts[2]) * (parts[3] ? units[parts[3]] : 1);
  switch (parts[1] ?? (isExact ? '=' : '>=')) {
    case '>': return (value) => value > bound;
    case '>=': return (value) => value >= bound;
    case '<': return (value) => value < bound;
    case '<=': return (value) => value <= bound;
    default: return (value) => value === bound;
  }
}

/** A pattern with `*` and `?`-less globs; without a star, a part of the text. */
function pattern(text) {
  if (!text.includes('*')) return (value) => value.includes(text);
  const parts = text.split('*');
  return (value) => {
    if (!value.startsWith(parts[0])) return false;
    let at = parts[0].length;
    for (const part of parts.slice(1, -1)) {
      const found = value.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    const last = parts[parts.length - 1];
    return value.length - last.length >= at && value.endsWith(last);
  };
}

const over = (match, read) => match && ((row) => match(read(row)));

const terms = {
  host: (text) => over(pattern(text), (row) => row.host.toLowerCase()),
  url: (text) => over(pattern(text), (row) => row.url.toLowerCase()),
  path: (text) => over(pattern(text), (row) => row.path.toLowerCase()),
  method: (text) => (row) => text.split(',').includes(row.method.toLowerCase()),
  type: (text) => (row) => row.kind === text || row.type.includes(text),
  source: (text) => (row) => row.source.toLowerCase().includes(text),
  header: (text) => over(pattern(text), (row) => row.head),
  error: (text) => (row) => row.error.toLowerCase().includes(text) && row.error !== '',
  body: (text) => (row) => row.bodies.includes(text),
  duration: (text) => over(comparison(text, false), (row) => row.time),
  size: (text) => over(comparison(text, false), (row) => row.size),
  is: (text) => ({
    failed: (row) => row.state === 'failed', open: (row) => row.state === 'open',
    finished: (row) => row.state === 'finished', mocked: (row) => row.source.startsWith('mock'),
    archived: (row) => row.source.startsWith('archive'), error: (row) => row.state === 'failed' || row.status >= 400,
  })[text] ?? null,
  status(text) {
    if (text === 'failed' || text === 'error') return (row) => row.state === 'failed';
    if (text === 'open') return (row) => row.state === 'open';
    const kinds = text.split(',').map((one) => {
      const hundred = /^([1-5])xx$/.exec(one);
      if (hundred) return (status) => Math.floor(status / 100) === Number(hundred[1]);
      return comparison(one, true);
    });
    if (kinds.includes(null)) return null;
    return (row) => kinds.some((kind) => row.status > 0 && kind(row.status));
  },
};

/** The words of a query; quotes hold words together, a backslash keeps a quote. */
function words(text) {
  const found = [];
  let word = '';
  let isQuoted = false;
  let hasQuotes = false;
  let colon = -1;
  const end = () => {
    if (word || hasQuotes) found.push({ word, colon });
    word = '';
    colon = -1;
    hasQuotes = false;
  };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (isQuoted && letter === '\\' && '"\\'.includes(text[at + 1] ?? '-')) word += text[(at += 1)];
    else if (letter === '"') {
      isQuoted = !isQuoted;
      hasQuotes = true;
    } else if (!isQuoted && /\s/.test(letter)) end();
    else {
      if (letter === ':' && !isQuoted && !hasQuotes && colon < 0) colon = word.length;
      word += letter;
    }
  }
  end();
  return found;
}

/** What a query asks of a row: a function, and the words that could not be understood. */
function compile(text) {
  const tests = [];
  const wrong = [];
  for (const { word, colon } of words(text.toLowerCase())) {
    const isNot = word.length > 1 && word.startsWith('-');
    const bare = isNot ? word.slice(1) : word;
    const name = colon > 0 ? bare.slice(0, colon - (isNot ? 1 : 0)) : '';
    let test;
    if (Object.hasOwn(terms, name)) {
      const value = bare.slice(name.length + 1);
      if (value === '') continue;
      test = terms[name](value);
      if (!test) {
        wrong.push(word);
        continue;
      }
    } else test = (row) => row.head.includes(bare);
    tests.push(isNot ? (row) => !test(row) : test);
  }
  return { matches: (row) => tests.every((test) => test(row)), wrong, isEmpty: tests.length === 0 };
}
