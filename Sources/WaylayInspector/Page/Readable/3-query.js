// The search language of the Inspector: terms that must all hold, `name:value` or free text, `-` before one for "not".

const times = { us: 0.001, ms: 1, s: 1000, min: 60_000 };
const sizes = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** `>500ms`, `<=2s`, `100kb`, `400-499`: a comparison of numbers; null where it is none. */
function comparison(text, units) {
  const scaled = (value, unit) => (unit === '' ? Number(value) : Object.hasOwn(units, unit) ? Number(value) * units[unit] : NaN);
  const range = /^(\d+(?:\.\d+)?)([a-z]*)-(\d+(?:\.\d+)?)([a-z]*)$/.exec(text);
  if (range) {
    const [least, most] = [scaled(range[1], range[2]), scaled(range[3], range[4])];
    return Number.isNaN(least + most) ? null : (value) => value >= least && value <= most;
  }
  const parts = /^(>=|<=|>|<|=)?(\d+(?:\.\d+)?)([a-z]*)$/.exec(text);
  const bound = parts ? scaled(parts[2], parts[3]) : NaN;
  if (Number.isNaN(bound)) return null;
  switch (parts[1]) {
    case '>': return (value) => value > bound;
    case '>=': return (value) => value >= bound;
    case '<': return (value) => value < bound;
    case '<=': return (value) => value <= bound;
    default: return (value) => value === bound;
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
const within = (read) => (text) => (row) => read(row).toLowerCase().includes(text);
const equal = (read) => (text) => (row) => read(row).toLowerCase() === text;

/** What each word asks: a function from its value to a test of a row, or to null where the value makes no sense. */
const terms = {
  host: (text) => over(hostMatch(text), (row) => row.hostName),
  status(text) {
    const hundred = /^([1-5])xx$/.exec(text);
    const match = hundred ? (status) => Math.floor(status / 100) === Number(hundred[1]) : comparison(text, {});
    return match && ((row) => row.status > 0 && match(row.status));
  },
  method: equal((row) => row.method),
  type: within((row) => row.type),
  duration: (text) => over(comparison(text, times), (row) => row.time),
  size: (text) => over(comparison(text, sizes), (row) => row.size),
  body: (text) => (row) => row.bodies.includes(text),
  url: within((row) => row.url),
  header: (text) => (row) => row.fields.includes(text),
  error: (text) => (row) => row.error !== '' && row.error.toLowerCase().includes(text),
  source: equal((row) => row.source),
  state: equal((row) => row.state),
  phase: equal((row) => texts(row.entry._phase)),
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
      const values = bare.slice(name.length + 1).split(',').filter((value) => value !== '');
      if (!values.length) continue;
      // Of several values one is enough. A text to look for may have commas of its own.
      const tries = (['body', 'url', 'header', 'error'].includes(name) ? [values.join(',')] : values).map(terms[name]);
      if (tries.some((one) => !one)) {
        wrong.push(word);
        continue;
      }
      test = (row) => tries.some((one) => one(row));
    } else test = (row) => row.head.includes(bare);
    tests.push(isNot ? (row) => !test(row) : test);
  }
  return { matches: (row) => tests.every((test) => test(row)), wrong, isEmpty: tests.length === 0 };
}
