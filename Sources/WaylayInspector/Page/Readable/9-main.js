// The page as a whole: its rows, its filter, and its keyboard shortcuts.

const all = new Map();
let places = 0;
let asked = compile('');

function take(entry) {
  const id = String(entry._id ?? places);
  const old = all.get(id);
  const row = new Row({ ...entry, _id: id }, old ? old.place : places);
  if (!old) places += 1;
  all.set(id, row);
  // Remove the oldest row, like the Inspector.
  if (all.size > live.limit) drop(all.keys().next().value);
  if (view.chosen?.id === id) view.chosen = row;
}

function drop(id) {
  if (view.chosen?.id === id) choose(null);
  all.delete(id);
}

function forget() {
  all.clear();
  if (view.chosen) choose(null);
}

const chips = [
  ['All', ''], ['Failed', 'state:failed'], ['4xx', 'status:4xx'], ['5xx', 'status:5xx'], ['JSON', 'type:json'],
  ['Mocked', 'source:mocked'], ['Archive', 'source:archive'], ['Slow', 'duration:>1s'], ['Open', 'state:open'],
];

/** Filters anew, and draws all that depends on it. */
function refresh() {
  const rows = [...all.values()];
  const shown = asked.isEmpty ? rows : rows.filter(asked.matches);
  view.isStale = true;
  showRows(shown);
  if (view.chosen && !$('detail').hidden && $('detail').row !== view.chosen) showDetail(view.chosen);
  showChips(rows);
  showEmpty(rows, shown);
  showStatus(rows, shown);
}

function showChips(rows) {
  const present = $('query').value.trim().split(/\s+/);
  $('chips').replaceChildren(...chips.map(([title, term]) => {
    const { matches } = compile(term);
    const count = term ? rows.reduce((sum, row) => sum + (matches(row) ? 1 : 0), 0) : rows.length;
    const isOn = term ? present.includes(term) : asked.isEmpty;
    if (term && !count && !isOn) return null;
    return make('button', {
      'aria-pressed': String(isOn), title: term || 'No filter',
      onclick: () => setQuery(!term ? '' : isOn ? present.filter((one) => one !== term).join(' ') : [...present, term].join(' ').trim()),
    }, title, make('b', {}, grouped(count)));
  }).filter(Boolean));
}

function showEmpty(rows, shown) {
  const empty = $('empty');
  empty.hidden = shown.length > 0;
  if (shown.length) return;
  if (rows.length) {
    empty.replaceChildren(make('b', {}, missing() ? 'No request matches so far' : 'No request matches'),
      make('p', {}, `${grouped(rows.length)} ${rows.length === 1 ? 'is' : 'are'} hidden by the filter.`),
      make('button', { onclick: () => setQuery('') }, 'Show all'));
  } else {
    empty.replaceChildren(make('b', {}, missing() ? 'Loading' : isLive ? 'Waiting for the first request' : 'No requests were recorded'),
      make('p', {}, isLive ? 'A request appears here as it is made, if its session is from intercepted(by:) and the Inspector stands in its chain.'
        : 'The Inspector had seen none when this page was written.'));
  }
}

function showStatus(rows, shown) {
  const sum = (read) => shown.reduce((total, row) => total + Math.max(0, read(row)), 0);
  const failed = shown.filter((row) => row.state === 'failed').length;
  const count = shown.length === rows.length ? grouped(rows.length) : `${grouped(shown.length)} of ${grouped(rows.length)}`;
  const [from, to] = extent(shown);
  $('status').replaceChildren(
    make('span', { id: 'count' }, `${count} ${rows.length === 1 ? 'request' : 'requests'}`),
    make('span', {}, `${bytes(sum((row) => row.size))} received`),
    failed ? make('span', { class: 'tone-bad' }, `${grouped(failed)} failed`) : '',
    make('span', { class: 'extra' }, shown.length ? `over ${duration(to - from)}` : ''),
    make('span', { id: 'partial', class: 'tone-warn' }, partial(rows)),
    make('span', { class: 'spring' }),
    asked.wrong.length ? make('span', { class: 'extra tone-bad' }, `not understood: ${asked.wrong.map(({ raw }) => raw).join(' ')}`)
      : make('span', { class: 'extra faint' }, 'Press ? for the search language'));
}

/** Says what the list, or a search, does not have yet. */
function partial(rows) {
  const left = missing();
  if (left) return `${asked.isEmpty ? 'Loading' : 'The search is not complete'}: ${grouped(left)} more to come`;
  const cut = asked.isForBodies ? rows.filter((row) => row.entry._isPreview).length : 0;
  return cut ? `The search is not complete: of ${grouped(cut)} long ${cut === 1 ? 'body' : 'bodies'} it has the beginning` : '';
}

/** Says what of the query was not understood, and which terms there are. */
function showMistakes() {
  $('mistakes').hidden = !asked.wrong.length;
  document.querySelector('.search').classList.toggle('wrong', asked.wrong.length > 0);
  $('mistakes').replaceChildren(
    ...asked.wrong.map(({ raw, why }) => make('p', {}, make('b', {}, raw), ` is not understood: ${why}.`)),
    make('p', {}, `The terms are ${Object.keys(terms).map((name) => `${name}:`).join(' ')}; anything else is text to look for.`));
}

function setQuery(text) {
  $('query').value = text;
  asked = compile(text);
  showMistakes();
  refresh();
}

function layOut() {
  const width = $('main').clientWidth;
  // On a phone a row has two lines: it is large enough for a finger, and has room for the host.
  rowHeight = width < 480 ? 48 : 30;
  document.body.classList.toggle('phone', width < 480);
  document.body.classList.toggle('narrow', width < 720);
  document.body.classList.toggle('medium', width >= 720 && width < 1500);
  document.body.classList.toggle('with-detail', !$('detail').hidden);
  $('rows').style.height = `${view.rows.length * rowHeight}px`;
  view.isStale = true;
  drawScale();
  draw();
}

function showSheet(title, ...content) {
  $('sheet').replaceChildren(make('h2', {}, title), ...content);
  $('sheet').showModal();
}

function help() {
  showSheet('Search and keys',
    make('h3', {}, 'Search: all terms must match, - excludes one'),
    facts([
      ['host:example.com', 'the host or a subdomain; * is any text'],
      ['status:4xx', 'also status:404, status:400-499, status:>=400'],
      ['method:post', 'the method'], ['type:json', 'the media type of the response, or a part of it'],
      ['duration:>500ms', 'how long it took: us, ms, s, min'], ['size:>100kb', 'the body of the response: b, kb, mb, gb, by 1024'],
      ['body:"sold out"', 'a text in the body of the request or the response'],
      ['source:mocked', 'who answered: network, archive, mocked'], ['state:failed', 'open, finished or failed; also phase:connecting'],
      ['url: header: error:', 'a text in these'], ['anything else', 'a text in the method, URL, header fields, address or error'],
    ]),
    make('h3', {}, 'Keys'),
    facts([
      ['↑ ↓  or  j k', 'move'], ['Enter', 'open'], ['Esc', 'close, or clear the filter'], ['/', 'filter'],
      ['1 2 3', 'overview, request, response'], ['c  u', 'copy as a command for curl, copy the URL'],
      ['t', 'light or dark'], ...(isLive ? [['p  r', 'pause, send again']] : []),
    ]),
    make('div', { class: 'line' }, make('button', { onclick: () => $('sheet').close() }, 'Close')));
}

const system = matchMedia('(prefers-color-scheme: dark)');
let theme = 'system';

function paint() {
  const isDark = theme === 'dark' || (theme === 'system' && system.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

function nextTheme() {
  const order = system.matches ? ['system', 'light', 'dark'] : ['system', 'dark', 'light'];
  theme = order[(order.indexOf(theme) + 1) % 3];
  paint();
  toast(theme === 'system' ? 'As the system' : theme === 'dark' ? 'Dark' : 'Light');
}

const keys = {
  ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1),
  PageDown: () => step(20), PageUp: () => step(-20), Home: () => step(-1e9), End: () => step(1e9),
  Enter: () => view.chosen && showDetail(view.chosen),
  Escape: () => (view.chosen ? choose(null) : setQuery('')),
  '/': () => $('query').select(), '?': help, t: nextTheme, 1: () => showTab('overview'), 2: () => showTab('request'),
  3: () => showTab('response'), c: () => view.chosen && copy(curl(view.chosen), 'Command'),
  u: () => view.chosen && copy(view.chosen.url, 'URL'), p: () => isLive && pause(), r: () => $('repeat')?.click(),
};

function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $('sheet').open) return;
  const isTyping = event.target === $('query');
  if (isTyping && event.key === 'Escape') {
    if ($('query').value) setQuery('');
    else $('scroll').focus();
  } else if (isTyping && !['ArrowDown', 'Enter'].includes(event.key)) return;
  else if (isTyping) {
    $('scroll').focus();
    if (!view.rows.includes(view.chosen)) step(1);
  } else if (event.target.closest?.('.pane, .body') && /^(Arrow|Page|Home|End)/.test(event.key)) return;
  else if (event.target.tagName === 'BUTTON' && event.key === 'Enter') return;
  else if (Object.hasOwn(keys, event.key)) keys[event.key]();
  else return;
  event.preventDefault();
}

function drag(event) {
  const divider = $('divider');
  divider.setPointerCapture(event.pointerId);
  divider.classList.add('dragged');
  const move = ({ clientX }) => {
    document.documentElement.style.setProperty('--side', `${Math.max(340, $('main').getBoundingClientRect().right - clientX)}px`);
    soon(layOut);
  };
  divider.addEventListener('pointermove', move);
  divider.addEventListener('lostpointercapture', () => {
    divider.removeEventListener('pointermove', move);
    divider.classList.remove('dragged');
  }, { once: true });
}

/** `#q=status:4xx&open=12&tab=response&theme=dark`: how a page is to begin. */
function obey(fragment) {
  const wishes = new URLSearchParams(fragment.replace(/^#/, ''));
  if (['light', 'dark'].includes(wishes.get('theme'))) theme = wishes.get('theme');
  paint();
  if (Object.hasOwn(panes, wishes.get('tab') ?? '')) tab = wishes.get('tab');
  if (wishes.has('q')) setQuery(wishes.get('q'));
  const row = all.get(wishes.get('open') ?? '');
  if (row) choose(row, true);
}

function begin() {
  paint();
  system.addEventListener('change', paint);
  buildHead();
  let har = {};
  try {
    har = JSON.parse($('har').textContent);
  } catch {
    toast('What this page holds cannot be read.');
  }
  list(har?.log?.entries).forEach(take);
  $('har').remove();
  $('query').addEventListener('input', () => setQuery($('query').value));
  $('scroll').addEventListener('scroll', () => soon(draw), { passive: true });
  $('theme').addEventListener('click', nextTheme);
  $('help').addEventListener('click', help);
  $('pause').addEventListener('click', pause);
  $('clear').addEventListener('click', () => ask('entries', 'DELETE').catch((error) => toast(error.message)));
  $('divider').addEventListener('pointerdown', drag);
  document.addEventListener('keydown', keyPressed);
  new ResizeObserver(() => soon(layOut)).observe($('main'));
  layOut();
  refresh();
  obey(location.hash);
  if (isLive) connect();
  document.documentElement.dataset.ready = 'true';
}

begin();
