// Makes a `curl` command from a request, quoted so that the shell executes no part of it, like `HAR.Request.curlCommand()`.

// The characters that a terminal would interpret. `printf` makes them, because not every shell supports `$'…'`. A line break is harmless, and
// command substitution would strip it.
const unseen = /(?:(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}])+/gu;

function quoted(text) {
  const octal = (run) => [...new TextEncoder().encode(run)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  return `'${text.replaceAll("'", "'\\''").replace(unseen, (run) => `'"$(printf '${octal(run)}')"'`)}'`;
}

function curl(row) {
  const { request } = row.entry;
  const fields = list(request?.headers).filter((field) => texts(field?.name) !== '');
  const words = ['curl', '--globoff', '--path-as-is', `--url ${quoted(row.url)}`];
  const body = requestBody(row);
  if (row.method === 'HEAD') words.push('--head');
  else if (row.method !== 'GET' || body) words.push(`--request ${quoted(row.method)}`);
  const names = new Set(fields.map((field) => field.name.toLowerCase()));
  for (const { name, value } of fields) {
    const lower = name.toLowerCase();
    if (/^[@:]/.test(name) || lower === 'content-length') continue;
    if (lower === 'host' && texts(value).toLowerCase() === row.host.toLowerCase()) continue;
    words.push(`--header ${quoted(texts(value) === '' ? `${name};` : `${name}: ${value}`)}`);
  }
  for (const name of ['User-Agent', 'Accept', ...(body ? ['Content-Type', 'Expect'] : [])]) {
    if (!names.has(name.toLowerCase())) words.push(`--header '${name}:'`);
  }
  const join = () => words.join(' \\\n  ');
  if (!body) return join();
  if (!body.base64 && !body.text.startsWith('@')) {
    words.push(`--data-binary ${quoted(body.text)}`);
    return join();
  }
  words.push('--data-binary @-');
  const raw = body.base64 ? [...atob(body.base64)].map((letter) => letter.charCodeAt(0)) : new TextEncoder().encode(body.text);
  return `printf '%b' '${[...raw].map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('')}' | ${join()}`;
}
