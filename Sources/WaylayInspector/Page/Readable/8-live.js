// The live page: it receives entries as they change, and can send a request again or turn it into a stub.

const isLive = document.documentElement.dataset.live === 'true';
const live = { isPaused: false, state: 'waiting', held: [], features: [], limit: Infinity, expected: 0 };

function say(state, text) {
  live.state = state;
  $('live').dataset.state = state;
  $('live').textContent = text;
}

function connect() {
  $('live').hidden = false;
  $('clear').hidden = false;
  $('pause').hidden = false;
  say('waiting', 'Connecting');
  const events = new EventSource('events');
  events.addEventListener('hello', (event) => {
    // A stream begins with all kept entries, which replace those of the page: after an interruption, none is missing or duplicated.
    const hello = JSON.parse(event.data);
    live.features = list(hello.features);
    live.limit = number(hello.limit, Infinity);
    live.expected = number(hello.count);
    live.held = [];
    forget();
    say(live.isPaused ? 'paused' : 'on', live.isPaused ? 'Paused' : 'Live');
    soon(refresh);
  });
  events.addEventListener('entry', (event) => {
    const entry = JSON.parse(event.data);
    const isExpected = live.expected > 0;
    if (isExpected) live.expected -= 1;
    if (live.isPaused) {
      live.held.push(entry);
      if (live.held.length > 20_000) live.held.shift();
      say('paused', `Paused, ${grouped(live.held.length)} more`);
      return;
    }
    take(entry);
    // Draw the list only from time to time while it is loading: drawing takes longer than adding an entry.
    if (!isExpected) soon(refresh);
    else if (!live.timer) live.timer = setTimeout(loaded, 100);
  });
  events.addEventListener('complete', () => {
    live.expected = 0;
    loaded();
  });
  events.addEventListener('cleared', () => {
    live.expected = 0;
    live.held = [];
    forget();
    soon(refresh);
  });
  events.addEventListener('full', (event) => {
    events.close();
    say('over', JSON.parse(event.data));
  });
  events.addEventListener('end', () => {
    events.close();
    say('over', 'The server has stopped');
  });
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED && live.state !== 'over') say('over', 'Not connected');
    else if (live.state !== 'over') say('waiting', 'Connecting again');
  };
}

function loaded() {
  clearTimeout(live.timer);
  live.timer = 0;
  soon(refresh);
}

/** How many entries there are that the page does not have yet. */
const missing = () => live.expected + live.held.length;

function pause() {
  live.isPaused = !live.isPaused;
  $('pause').textContent = live.isPaused ? 'Go on' : 'Pause';
  say(live.isPaused ? 'paused' : 'on', live.isPaused ? 'Paused' : 'Live');
  for (const entry of live.held.splice(0)) take(entry);
  soon(refresh);
}

async function ask(path, method = 'POST') {
  // For other origins, this field requires a CORS preflight, which the server rejects.
  const response = await fetch(path, { method, headers: { 'X-Waylay': '1' }, redirect: 'error' });
  const text = await response.text();
  if (!response.ok) throw new Error(text || `The server answered ${response.status}`);
  return text;
}

async function sendAgain(row, button) {
  button.disabled = true;
  try {
    toast(await ask(`entries/${encodeURIComponent(row.id)}/repeat`));
  } catch (error) {
    toast(error.message);
  }
  button.disabled = false;
}

async function showStub(row) {
  try {
    const source = await ask(`entries/${encodeURIComponent(row.id)}/stub`, 'GET');
    showSheet('Stub', make('p', { class: 'note' }, 'For a test, with what was recorded as its response:'),
      make('pre', { class: 'body wide' }, source),
      make('div', { class: 'line' }, make('button', { onclick: () => copy(source, 'Stub') }, 'Copy'),
        make('button', { onclick: () => $('sheet').close() }, 'Close')));
  } catch (error) {
    toast(error.message);
  }
}

function liveTools(row) {
  if (!isLive) return [];
  const tools = [];
  if (live.features.includes('repeat')) {
    const again = make('button', { onclick: () => sendAgain(row, again), title: 'Send it once more (r)', id: 'repeat' }, 'Send again');
    tools.push(again);
  }
  if (live.features.includes('stub')) tools.push(make('button', { onclick: () => showStub(row), id: 'stub' }, 'As a stub'));
  if (row.entry._isPreview) {
    tools.push(make('button', {
      onclick: async () => {
        try { take(JSON.parse(await ask(`entries/${encodeURIComponent(row.id)}`, 'GET'))); } catch (error) { toast(error.message); }
        refresh();
      },
    }, 'Load the whole body'));
  }
  return tools;
}
