// The search language of the page: terms that must all match, `name:value` or free text; `-` negates a term.

const times = { us: 0.001, ms: 1, s: 1000, min: 60_000 };
const sizes = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** ASCII letters alone have no case. */
const folded = (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** `>500ms`, `<=2s`, `100kb`: a comparison of numbers, "not less" by itself; null where it is none. */
function comparison(text, units, unit) {
  const parts = /^(>=|<=|>|<|=)?(\d+(?:\.\d*)?|\.\d+)([a-z]*)$/.exec(folded(text));
  const name = parts ? parts[3] || unit : '';
  if (!Object.hasOwn(units, name)) return null;
  const bound = Number(parts[2]) * units[name];
  switch (parts[1]) {
    case '>': return (value) => value > bound;
    case '<': return (value) => value < bound;
    case '<=': return (value) => value <= bound;
    case '=': return (value) => value === bound;
    default: return (value) => value >= bound;
  }
}

/** `404`, `4xx`, `400-499`, `>=400`: a test of a status; null where it is none. */
function statusMatch(text) {
  const parts = /^(?:(\d)xx|(>=|<=|>|<)(\d{1,3})|(\d{1,3})-(\d{1,3})|(\d{1,3}))$/.exec(folded(text));
  if (!parts) return null;
  const between = (first, last) => (first <= last ? (status) => status >= first && status <= last : null);
  if (parts[1]) return between(parts[1] * 100, parts[1] * 100 + 99);
  const bound = Number(parts[3]);
  switch (parts[2]) {
    case '>=': return between(bound, 999);
    case '>': return between(Math.min(bound + 1, 999), 999);
    case '<=': return between(1, Math.max(1, bound));
    case '<': return between(1, Math.max(1, bound - 1));
    default: return parts[4] ? between(Number(parts[4]), Number(parts[5])) : between(Number(parts[6]), Number(parts[6]));
  }
}

/** A host and what is beneath it; `*` stands for anything. */
function hostMatch(text) {
  if (!text.includes('*')) return (host) => host === text || host.endsWith(`.${text}`);
  const parts = text.split('*');
  return (host) => {
    if (!host.startsWith(parts[0])) return false;
    let at = parts[0].length;
    for (const part of parts.slice(1, -1)) {
      const found = host.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    const last = parts[parts.length - 1];
    return host.length - last.length >= at && host.endsWith(last);
  };
}

const over = (match, read) => match && ((row) => match(read(row)));
const within = (read) => (text) => (row) => folded(read(row)).includes(text);
const equal = (read) => (text) => (row) => folded(read(row)) === text;

/** What each word asks: a function from its value to a test of a row, or to null where the value makes no sense. */
const terms = {
  host: (text) => over(hostMatch(text), (row) => row.hostName),
  status: (text) => over(statusMatch(text), (row) => row.status),
  method: equal((row) => row.method),
  type: within((row) => row.type),
  duration: (text) => over(comparison(text, times, 'ms'), (row) => row.time),
  size: (text) => over(comparison(text, sizes, 'b'), (row) => row.size),
  body(text) {
    const bytes = String.fromCharCode(...new TextEncoder().encode(text));
    return (row) => row.bodies.includes(text) || row.binaries.includes(bytes);
  },
  url: within((row) => row.url),
  header: (text) => (row) => row.fields.includes(text),
  error: within((row) => row.error),
  source: equal((row) => row.source),
  state: equal((row) => row.state),
  phase: equal((row) => texts(row.entry._phase)),
};

/** Those that have several values with commas between them, of which one is enough. */
const lists = ['host', 'method', 'type', 'source', 'state', 'phase', 'status'];

/** How the value of a term is written, for one that makes no sense. */
const examples = {
  status: 'write status:404, status:4xx, status:400-499 or status:>=400',
  duration: 'write duration:>500ms; the units are us, ms, s and min',
  size: 'write size:>100kb; the units are b, kb, mb and gb',
};

/** Words of other search languages, which nobody looks for here. */
const operators = ['OR', 'AND', 'NOT', '||', '&&', '|'];

/**
 * The words of a query: each with its term, if it has one, its value, and how it was written. What somebody is still
 * writing is no mistake: a quote without an end holds all that follows.
 */
function words(text) {
  const found = [];
  let at = 0;
  const isSpace = (place) => /\s/.test(text[place] ?? ' ');
  const value = () => {
    let result = '';
    if (text[at] !== '"') {
      while (!isSpace(at)) result += text[at++];
      return result;
    }
    at += 1;
    while (at < text.length && text[at] !== '"') {
      if (text[at] === '\\' && '"\\'.includes(text[at + 1] ?? '-')) at += 1;
      result += text[at++];
    }
    at += 1;
    return result;
  };
  while (at < text.length) {
    if (isSpace(at)) {
      at += 1;
      continue;
    }
    const start = at;
    const isNot = text[at] === '-' && !isSpace(at + 1);
    if (isNot) at += 1;
    const word = at;
    while (!isSpace(at) && text[at] !== ':' && text[at] !== '"') at += 1;
    const key = folded(text.slice(word, at));
    // Treat a URL, the beginning of one, and a host with a port as free text.
    const isAddress = text.startsWith('//', at + 1) || !Object.hasOwn(terms, key) && /^:(\/\S*|\d+(\/\S*)?)?(\s|$)/.test(text.slice(at));
    const isTerm = text[at] === ':' && !isAddress && /^[a-z]+$/.test(key);
    at = isTerm ? at + 1 : word;
    const read = folded(value());
    found.push({ isNot, name: isTerm ? key : '', value: read, raw: text.slice(start, at) });
  }
  return found;
}

/** The test that a word asks for, or why there is none. */
function understood({ name, value, raw }) {
  if (operators.includes(raw)) {
    return { why: 'all words must match; of several values with commas one must, as in status:404,503; - before a word means not' };
  }
  if (!name) return { test: (row) => row.head.includes(value) };
  if (!Object.hasOwn(terms, name)) return { why: `there is no term ${name}: to look for this text, put it in quotes` };
  const values = lists.includes(name) ? value.split(',').filter((one) => one !== '') : [value];
  const tests = values.map(terms[name]);
  if (tests.some((test) => !test)) return { why: examples[name] };
  return { test: tests.length > 0 && ((row) => tests.some((test) => test(row))) };
}

/** What a query asks of a row: a function, and the words that could not be understood, each with the reason. */
function compile(text) {
  const tests = [];
  const wrong = [];
  let isForBodies = false;
  for (const word of words(text)) {
    if (word.value === '' && (!word.name || Object.hasOwn(terms, word.name))) continue;
    const { test, why } = understood(word);
    isForBodies ||= word.name === 'body';
    if (why) wrong.push({ raw: word.raw, why });
    else if (test) tests.push(word.isNot ? (row) => !test(row) : test);
  }
  return { matches: (row) => tests.every((test) => test(row)), wrong, isForBodies, isEmpty: tests.length === 0 };
}
