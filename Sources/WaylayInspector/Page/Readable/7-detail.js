// The details of one request.

const phaseNames = {
  blocked: 'Waiting for a turn', dns: 'Resolving the name', connect: 'Connecting', ssl: 'TLS handshake', send: 'Sending',
  wait: 'Waiting for the response', receive: 'Receiving',
};
let tab = 'overview';

function facts(pairs, isFields = false) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (!shown.length) return null;
  return make('dl', { class: isFields ? 'facts fields' : 'facts' }, shown.flatMap(([name, value]) => [
    make('dt', {}, name),
    make('dd', {}, value === 'REDACTED' ? make('span', { class: 'hidden-value', title: 'Taken out before it was stored' }, value) : value),
  ]));
}

const fieldList = (fields) => facts(list(fields).map((field) => [texts(field?.name), texts(field?.value)]), true);

function titled(title, content) {
  return content ? [make('h2', {}, title), content] : [];
}

function phaseView(row) {
  const { phases } = row;
  const total = Math.max(row.time, 0.001);
  if (!phases.length) return null;
  return make('div', { class: 'phases' }, phases.flatMap(([name, at, time]) => {
    const bar = make('span', { class: `p-${name}` });
    bar.style.left = `min(${(at / total) * 100}%, 100% - 2px)`;
    bar.style.width = `${(time / total) * 100}%`;
    return [make('span', { class: 'quiet' }, phaseNames[name]), make('div', { class: 'track' }, bar),
      make('span', { class: 'right' }, duration(time))];
  }), make('span', { class: 'total' }, 'Total'), make('span'), make('span', { class: 'total' }, duration(row.time)));
}

/** What went to the network: the columns that any of them has something to say in. */
function attemptView(attempts) {
  const all = list(attempts).filter((one) => typeof one === 'object' && one);
  const columns = [
    ['Address', (one) => texts(one.address)],
    ['After', (one) => duration(one.at)],
    ['Time', (one) => duration(one.time)],
    ['Outcome', (one) => [
      one.status ? String(one.status) : '', texts(one.error) && `${one.phase ? `${one.phase}: ` : ''}${one.error}`, texts(one.outcome),
      one.reused === true ? 'on an open connection' : '',
    ].filter(Boolean).join(', ')],
  ].filter(([, read]) => all.some(read));
  if (!all.length || !columns.length) return null;
  return make('table', { class: 'attempts' },
    make('tr', {}, columns.map(([title]) => make('th', {}, title))),
    all.map((one) => make('tr', {}, columns.map(([, read]) => make('td', {}, read(one))))));
}

const origins = { network: 'The network', archive: 'The archive', mock: 'A mock', mocked: 'A mock' };

function overview(row) {
  const { entry } = row;
  const { response = {}, request = {} } = entry;
  return [
    row.state === 'failed' && make('div', { class: 'trouble' },
      make('b', {}, `Failed${entry._phase ? ` while ${phaseWords(texts(entry._phase))}` : ''}`), make('p', {}, row.error || 'No reason is known.')),
    row.state === 'unseen' && make('p', { class: 'note' }, 'A WebSocket task: what is sent and received on it is not seen.'),
    row.state === 'open' && make('p', { class: 'note' }, 'Still open: what has come so far is shown.'),
    ...titled('Request', facts([
      ['Began', row.start ? `${clock(row.start)}, ${new Date(row.start).toLocaleDateString()}` : ''],
      ['Operation', row.operation],
      ['Answered by', row.status ? (origins[row.source] ?? row.source) : ''],
      ['Status', row.status ? `${row.status} ${texts(response.statusText)}`.trim() : ''],
      ['Type', row.type], ['Received', row.size >= 0 ? `${bytes(row.size)}${row.size >= 1000 ? ` (${grouped(row.size)} bytes)` : ''}` : ''],
      ['Sent', number(request.bodySize) > 0 ? bytes(request.bodySize) : ''],
      ['Address', texts(entry.serverIPAddress)], ['Protocol', texts(response.httpVersion)],
      ['Connection', texts(entry.connection)], ['Leads to', texts(response.redirectURL)], ['Remark', texts(entry.comment)],
    ])),
    ...titled('Time', phaseView(row)),
    ...titled('Attempts', attemptView(entry._attempts)),
  ];
}

const phaseWords = (phase) => ({
  resolving: 'resolving the name', connecting: 'connecting', securing: 'setting up TLS', handshake: 'setting up TLS',
  tls: 'setting up TLS', sending: 'sending the request', waiting: 'waiting for the response', receiving: 'receiving the response',
})[phase] ?? phase;

function messageView(fields, others, body, title) {
  const shown = fieldList(fields);
  return [
    ...titled('Header fields', shown ?? make('p', { class: 'note' }, 'None are known.')),
    ...others,
    ...(body ? bodyView(title, body) : []),
  ];
}

const panes = {
  overview,
  request: (row) => messageView(row.entry.request?.headers, titled('Query', fieldList(row.entry.request?.queryString)),
    requestBody(row), 'Body'),
  response: (row) => (row.status || row.entry.response?.content?.text
    ? messageView(row.entry.response?.headers, [], responseBody(row), 'Body')
    : [make('p', { class: 'note' }, row.state === 'open' ? 'No response yet.' : 'There was no response.')]),
};

function showTab(name) {
  tab = name;
  if (view.chosen) showDetail(view.chosen);
}

function urlView(row) {
  if (!row.scheme) return [row.url];
  const at = row.url.indexOf(row.host, row.scheme.length + 3);
  return [make('i', {}, row.url.slice(0, at)), make('b', {}, row.host), row.path,
    make('i', {}, row.url.slice(at + row.host.length + (row.url.startsWith('/', at + row.host.length) ? row.path.length : 0)))];
}

function showDetail(row) {
  const detail = $('detail');
  const isNew = detail.row?.id !== row?.id;
  const scrolled = isNew ? 0 : (detail.querySelector('.pane')?.scrollTop ?? 0);
  const wasHidden = detail.hidden;
  detail.hidden = !row;
  $('divider').hidden = !row;
  detail.row = row;
  if (wasHidden !== detail.hidden) layOut();
  if (!row) {
    detail.replaceChildren();
    return;
  }
  const count = { request: list(row.entry.request?.headers).length, response: list(row.entry.response?.headers).length };
  const tabs = ['overview', 'request', 'response'].map((name) => make('button', {
    role: 'tab', 'aria-selected': String(name === tab), onclick: () => showTab(name), id: `tab-${name}`,
  }, name[0].toUpperCase() + name.slice(1), count[name] ? make('small', {}, String(count[name])) : null));
  const pane = make('div', { class: 'pane', role: 'tabpanel', tabindex: '0', 'aria-labelledby': `tab-${tab}` }, panes[tab](row));
  detail.replaceChildren(
    make('div', { class: 'top' },
      make('div', { class: 'line' },
        make('span', { class: `state tone-${row.tone}` }, row.label), make('span', { class: 'method' }, row.method),
        make('span', { class: 'quiet' }, row.time ? duration(row.time) : ''),
        row.source === 'network' || !row.source ? null : make('span', { class: 'tag' }, row.source), make('span', { class: 'spring' }),
        make('button', { class: 'icon', title: 'Close (Esc)', 'aria-label': 'Close', onclick: () => choose(null) }, '✕')),
      make('div', { class: 'url', tabindex: '0' }, urlView(row)),
      make('div', { class: 'tools' },
        make('button', { onclick: () => copy(row.url, 'URL'), title: 'Copy the URL (u)' }, 'Copy URL'),
        make('button', { onclick: () => copy(curl(row), 'Command'), title: 'Copy as a command for curl (c)' }, 'Copy as cURL'),
        ...liveTools(row)),
      make('div', { class: 'tabs', role: 'tablist' }, tabs)),
    pane);
  pane.scrollTop = scrolled;
}
