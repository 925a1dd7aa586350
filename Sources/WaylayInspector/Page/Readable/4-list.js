// The list. It has only as many elements as fit on the screen, independent of the number of rows.

let rowHeight = 30;
const columns = [
  { key: 'status', title: 'Status', by: (row) => (row.state === 'failed' ? 1000 : 0) + row.status },
  { key: 'method', title: 'Method', by: (row) => row.method },
  { key: 'name', title: 'Request', by: (row) => row.host + row.path },
  { key: 'type', title: 'Type', by: (row) => row.kind },
  { key: 'size', title: 'Size', isRight: true, by: (row) => row.size },
  { key: 'time', title: 'Time', isRight: true, by: (row) => row.time },
  { key: 'fall', title: 'Waterfall', by: (row) => row.start },
];

const view = { rows: [], order: { key: 'fall', isDown: false }, from: 0, to: 1, chosen: null, pool: [], isDrawn: false };

function buildHead() {
  const titles = columns.map(({ key, title, isRight }) => make('button', {
    class: `c-${key}${isRight ? ' right' : ''}`, 'data-key': key, onclick: () => sortBy(key), title: `Sort by ${title.toLowerCase()}`,
  }, title));
  titles[6] = make('div', { class: 'c-fall scale', id: 'scale', onclick: () => sortBy('fall'), title: 'Sort by start' });
  $('head').replaceChildren(...titles);
}

function sortBy(key) {
  const { order } = view;
  if (order.key !== key) view.order = { key, isDown: ['size', 'time'].includes(key) };
  else if (order.key === 'fall' || order.isDown !== ['size', 'time'].includes(key)) view.order = { key: 'fall', isDown: order.key === 'fall' && !order.isDown };
  else order.isDown = !order.isDown;
  refresh();
}

function sorted(rows) {
  const { key, isDown } = view.order;
  const { by } = columns.find((column) => column.key === key);
  const sign = isDown ? -1 : 1;
  return rows.sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    return (a < b ? -1 : a > b ? 1 : one.place - other.place) * sign;
  });
}

/** Puts the rows that match in order, and draws what is to be seen of them. */
function showRows(rows) {
  const scroll = $('scroll');
  const isAtEnd = scroll.scrollTop + scroll.clientHeight >= scroll.scrollHeight - rowHeight;
  const hadRows = view.rows.length > 0;
  view.rows = sorted(rows);
  $('rows').style.height = `${rows.length * rowHeight}px`;
  for (const button of $('head').children) {
    if (button.dataset.key !== view.order.key) button.removeAttribute('data-sorted');
    else button.dataset.sorted = view.order.isDown ? 'down' : 'up';
  }
  if (isAtEnd && hadRows && document.documentElement.dataset.live && view.order.key === 'fall' && !view.order.isDown) {
    scroll.scrollTop = scroll.scrollHeight;
  }
  draw();
}

/** The waterfall spans the times of the rows on the screen. */
function spanRows() {
  const { scrollTop, clientHeight } = $('scroll');
  const [from, to] = extent(view.rows.slice(Math.floor(scrollTop / rowHeight), Math.ceil((scrollTop + clientHeight) / rowHeight)));
  if (from === view.from && to === view.to) return;
  Object.assign(view, { from, to, isStale: true });
  drawScale();
}

/** When the first of some rows began, and the last of them ended. */
function extent(rows) {
  const from = Math.min(...sample(rows, (row) => row.start));
  return [from, Math.max(from + 1, ...sample(rows, (row) => row.end))];
}

/** The least and the most of what rows say: spreading thousands of arguments is more than a stack may take. */
function sample(rows, read) {
  let [least, most] = [Infinity, -Infinity];
  for (const row of rows) {
    const value = read(row);
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return rows.length ? [least, most] : [0];
}

function drawScale() {
  const span = view.to - view.from;
  const width = $('scale').clientWidth;
  const marks = [];
  if (view.rows.length && width > 60) {
    const rough = span / Math.max(1, width / 90);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
    for (let at = 0; at < span * (1 - 52 / width); at += step) {
      const mark = make('span', {}, duration(at));
      mark.style.left = `${(at / span) * 100}%`;
      marks.push(mark);
    }
  }
  $('scale').replaceChildren(...marks);
}

function newElement() {
  const cell = (name, ...children) => make('div', { class: name }, ...children);
  const parts = {
    state: make('span'), method: make('div', { class: 'method' }), path: make('span', { class: 'path' }),
    host: make('span', { class: 'host' }), tag: make('span', { class: 'tag' }), type: cell('c-type quiet'),
    size: cell('c-size right quiet'), time: cell('c-time right'), fall: cell('c-fall fall'),
    before: make('span', { class: 'before' }), wait: make('span'), after: make('span', { class: 'after' }),
  };
  parts.fall.append(parts.before, parts.wait, parts.after);
  const element = make('div', { class: 'row', role: 'option' },
    cell('c-status', parts.state), parts.method, cell('name', parts.path, parts.tag, parts.host),
    parts.type, parts.size, parts.time, parts.fall);
  element.parts = parts;
  element.addEventListener('click', () => choose(element.row, true));
  return element;
}

function fill(element, row, place) {
  const { parts } = element;
  element.row = row;
  element.style.transform = `translateY(${place * rowHeight}px)`;
  element.setAttribute('aria-selected', String(row === view.chosen));
  element.setAttribute('aria-posinset', String(place + 1));
  element.setAttribute('aria-setsize', String(view.rows.length));
  parts.state.className = `state tone-${row.tone}${row.state === 'open' ? ' is-open' : ''}`;
  parts.state.textContent = row.label;
  parts.method.textContent = row.method;
  parts.path.replaceChildren(row.path, make('i', {}, row.query), row.operation && ` ${row.operation}`);
  parts.path.title = row.url;
  parts.host.textContent = row.host;
  parts.tag.hidden = row.source === 'network' || !row.source;
  parts.tag.textContent = row.source;
  parts.type.textContent = row.kind;
  parts.size.textContent = row.size >= 0 ? bytes(row.size) : '';
  parts.time.textContent = row.state === 'open' && !row.time ? '' : duration(row.time);
  parts.time.classList.toggle('slow', row.time >= 1000);
  parts.fall.className = `c-fall fall tone-${row.state === 'failed' ? 'bad' : row.state === 'open' ? 'open' : 'good'}`;
  const span = view.to - view.from;
  const put = (bar, at, time) => {
    bar.hidden = !(time > 0);
    if (bar.hidden) return;
    bar.style.left = `min(${((row.start - view.from + at) / span) * 100}%, 100% - 2px)`;
    bar.style.width = `${(time / span) * 100}%`;
  };
  const of = (name) => Math.max(0, number(row.entry.timings?.[name]));
  const receive = Math.min(of('receive'), row.time);
  const before = Math.min(of('blocked') + of('dns') + of('connect'), row.time - receive);
  put(parts.before, 0, before);
  put(parts.wait, before, Math.max(row.time - before - receive, before + receive > 0 ? 0 : span / 1e6));
  put(parts.after, row.time - receive, receive);
}

function draw() {
  const scroll = $('scroll');
  const first = Math.max(0, Math.floor(scroll.scrollTop / rowHeight) - 6);
  const count = Math.min(view.rows.length - first, Math.ceil(scroll.clientHeight / rowHeight) + 12);
  spanRows();
  while (view.pool.length < count) {
    const element = newElement();
    view.pool.push(element);
    $('rows').append(element);
  }
  // An element keeps its row while that is visible: only elements that scrolled out of view get a new row.
  view.pool.forEach((element, slot) => {
    const place = first + ((slot - (first % view.pool.length)) + view.pool.length) % view.pool.length;
    const row = place < first + count ? view.rows[place] : undefined;
    element.hidden = row === undefined;
    if (row === undefined) return;
    if (element.row === row && element.place === place && !view.isStale) return;
    element.place = place;
    fill(element, row, place);
  });
  view.isStale = false;
}

function soon(work) {
  if (soon.waiting.size === 0) requestAnimationFrame(() => {
    const all = [...soon.waiting];
    soon.waiting.clear();
    for (const one of all) one();
  });
  soon.waiting.add(work);
}
soon.waiting = new Set();

function choose(row, opens = false) {
  view.chosen = row;
  view.isStale = true;
  if (row) {
    const place = view.rows.indexOf(row);
    const scroll = $('scroll');
    if (place >= 0) {
      const top = place * rowHeight;
      if (top < scroll.scrollTop) scroll.scrollTop = top;
      else if (top + rowHeight > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + rowHeight - scroll.clientHeight;
    }
  }
  if (opens || !row || !$('detail').hidden) showDetail(row);
  soon(draw);
}

function step(by) {
  if (!view.rows.length) return;
  const at = view.rows.indexOf(view.chosen);
  const next = at < 0 ? (by > 0 ? 0 : view.rows.length - 1) : Math.min(view.rows.length - 1, Math.max(0, at + by));
  choose(view.rows[next]);
}
