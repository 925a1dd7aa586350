// swift-format-ignore-file
// Made by Scripts/page.sh from the files in Readable: change those.

enum PageSource {
  /// The SHA-256 of the style, as a policy writes it.
  static let styleHash = "sha256-QG9GnPH3eCTkaMoQ41BEMSvFTHvb6ysk8+kvAMksbXM="
  /// The SHA-256 of the script, as a policy writes it.
  static let scriptHash = "sha256-raKcdcNRC8TLkwauPMZT+EKW7ZmE5hajJwJg21MLPlg="

  /// The page, with places for the rest.
  static let markup = #"""
    <!doctype html>
    <html lang="en" data-live="{{LIVE}}">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="{{POLICY}}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <title>{{TITLE}}</title>
    <style>{{STYLE}}</style>
    </head>
    <body>
    <header class="bar">
      <h1><span class="mark" aria-hidden="true"></span><span id="title">{{TITLE}}</span></h1>
      <span id="live" class="live" hidden></span>
      <label class="search">
        <svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="7" cy="7" r="4.5"/><path d="M10.5 10.5 14 14"/></svg>
        <input id="query" type="search" placeholder="host:example.com status:4xx type:json duration:&gt;500ms body:&quot;…&quot;"
          aria-label="Filter" autocomplete="off" autocapitalize="off" spellcheck="false">
        <kbd aria-hidden="true">/</kbd>
      </label>
      <nav>
        <button id="pause" hidden title="Stop taking in new requests (p)">Pause</button>
        <button id="clear" hidden title="Forget what is shown">Clear</button>
        <button id="theme" class="icon" title="Light, dark, or as the system (t)" aria-label="Appearance">
          <svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="5.5"/><path class="half" d="M8 2.5a5.5 5.5 0 0 1 0 11z"/></svg>
        </button>
        <button id="help" class="icon" title="Search language and keys (?)" aria-label="Help">?</button>
      </nav>
    </header>
    <div class="filters">
      <div id="mistakes" class="mistakes" role="alert" hidden></div>
      <div id="chips" class="chips" role="group" aria-label="Common filters"></div>
    </div>
    <main id="main">
      <section id="list" class="list" aria-label="Requests">
        <div id="head" class="row head"></div>
        <div id="scroll" class="scroll" tabindex="0" role="listbox" aria-label="Requests"><div id="rows" class="rows"></div></div>
        <div id="empty" class="empty" hidden></div>
      </section>
      <div id="divider" class="divider" role="separator" aria-orientation="vertical" hidden></div>
      <section id="detail" class="detail" aria-label="Details of the request" hidden></section>
    </main>
    <footer id="status" class="status"></footer>
    <dialog id="sheet" class="sheet"></dialog>
    <div id="toast" class="toast" role="status"></div>
    <noscript><p class="empty">This page needs JavaScript to show the requests it holds. It loads nothing from anywhere.</p></noscript>
    <script type="application/json" id="har">{{HAR}}</script>
    <script>{{SCRIPT}}</script>
    </body>
    </html>
    """#

  /// How it looks.
  static let style = #"""
    :root {
      --ground: #f7f7f5; --surface: #ffffff; --raised: #f1f1ee; --line: #e4e4df; --soft: #eeeeea;
      --text: #1f2023; --quiet: #5f6167; --faint: #8b8d94;
      --accent: #3b5bdb; --accent-soft: #e9edfd; --hover: #f3f3f0; --chosen: #e6ebfc;
      --good: #1d7d4f; --move: #4a6785; --warn: #a85b00; --bad: #c22f35; --bad-soft: #fdeeee;
      --t-queue: #c9cad0; --t-dns: #57a79a; --t-connect: #d49a3a; --t-ssl: #a86cc1; --t-send: #6d8fd6;
      --t-wait: #5b7be5; --t-receive: #3fa36b;
      --key: #7a3e9d; --string: #1d6f4a; --number: #9a4d00; --word: #3b5bdb;
      --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
      --sans: system-ui, -apple-system, "Segoe UI", "Inter", "Noto Sans", "DejaVu Sans", sans-serif;
      --row: 30px; --side: 46%;
      color-scheme: light;
    }
    :root[data-theme="dark"] {
      --ground: #141518; --surface: #1a1b1f; --raised: #212329; --line: #2b2d34; --soft: #24262c;
      --text: #e7e8ec; --quiet: #a3a6b0; --faint: #747782;
      --accent: #8da2fb; --accent-soft: #252c4a; --hover: #202227; --chosen: #272e4b;
      --good: #5cc68e; --move: #92b1d2; --warn: #eba759; --bad: #ff8387; --bad-soft: #34191c;
      --t-queue: #4b4e58; --t-dns: #57a79a; --t-connect: #d49a3a; --t-ssl: #b07fd0; --t-send: #7d9ce0;
      --t-wait: #6f8cf0; --t-receive: #4fb37c;
      --key: #c8a3e6; --string: #7fcfa4; --number: #e5ad6a; --word: #8da2fb;
      color-scheme: dark;
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html, body { height: 100%; margin: 0; }
    body {
      display: grid; grid-template-rows: auto auto minmax(0, 1fr) auto; background: var(--ground); color: var(--text);
      font: 13px/1.45 var(--sans); -webkit-font-smoothing: antialiased; overflow: hidden;
    }
    button, input { font: inherit; color: inherit; }
    button {
      border: 1px solid var(--line); background: var(--surface); border-radius: 6px; padding: 3px 10px; cursor: pointer;
      white-space: nowrap; color: var(--quiet);
    }
    button:hover { background: var(--hover); color: var(--text); }
    button:disabled { opacity: .5; cursor: default; }
    button.icon { width: 28px; height: 28px; padding: 0; display: inline-grid; place-items: center; }
    svg { width: 14px; height: 14px; fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linecap: round; }
    svg .half { fill: currentColor; stroke: none; }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: -1px; }
    kbd {
      font: 11px/1 var(--mono); border: 1px solid var(--line); border-radius: 4px; padding: 2px 5px; color: var(--faint);
      background: var(--raised);
    }

    .bar { display: flex; align-items: center; gap: 14px; padding: 10px 14px 8px; }
    .bar h1 {
      font-size: 14px; font-weight: 650; margin: 0; display: flex; align-items: center; gap: 8px; white-space: nowrap;
      min-width: 0; letter-spacing: -.01em;
    }
    .bar h1 #title { overflow: hidden; text-overflow: ellipsis; }
    .mark {
      width: 14px; height: 14px; border-radius: 4px; flex: none;
      background: linear-gradient(var(--accent), var(--accent)) 2px 3px / 7px 2px no-repeat,
        linear-gradient(var(--accent), var(--accent)) 5px 6px / 7px 2px no-repeat,
        linear-gradient(var(--accent), var(--accent)) 3px 9px / 5px 2px no-repeat, var(--accent-soft);
    }
    .bar nav { display: flex; gap: 6px; margin-left: auto; }
    .live { display: inline-flex; align-items: center; gap: 6px; color: var(--quiet); font-size: 12px; white-space: nowrap; }
    .live::before { content: ""; width: 7px; height: 7px; border-radius: 50%; background: var(--good); }
    .live[data-state="paused"]::before, .live[data-state="waiting"]::before { background: var(--warn); }
    .live[data-state="over"]::before { background: var(--bad); }
    .search {
      flex: 1 1 320px; max-width: 680px; display: flex; align-items: center; gap: 8px; min-width: 0; height: 30px;
      padding: 0 8px 0 10px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px; color: var(--faint);
    }
    .search:focus-within { border-color: var(--accent); box-shadow: 0 0 0 3px var(--accent-soft); }
    .search:focus-within kbd { visibility: hidden; }
    .search input {
      flex: 1; min-width: 0; border: 0; background: none; outline: none; font: 12.5px/1.4 var(--mono); color: var(--text);
    }
    .search input::placeholder { color: var(--faint); opacity: 1; }
    .search.wrong { border-color: var(--bad); box-shadow: 0 0 0 3px var(--bad-soft); }
    .mistakes { padding: 0 14px 8px; font-size: 12px; color: var(--bad); overflow-wrap: anywhere; }
    .mistakes p { margin: 0; } .mistakes p:last-child { color: var(--quiet); }
    .filters { min-width: 0; }

    .chips { display: flex; gap: 6px; padding: 0 14px 10px; overflow-x: auto; scrollbar-width: none; }
    .chips button { border-radius: 99px; padding: 1px 10px; font-size: 12px; background: transparent; }
    .chips button b { font-weight: 500; color: var(--faint); margin-left: 5px; font-variant-numeric: tabular-nums; }
    .chips button[aria-pressed="true"] { background: var(--accent-soft); border-color: transparent; color: var(--accent); }
    .chips button[aria-pressed="true"] b { color: inherit; }

    main { display: flex; min-height: 0; border-top: 1px solid var(--line); background: var(--surface); }
    .list { flex: 1; min-width: 0; display: flex; flex-direction: column; position: relative; }
    .scroll { flex: 1; overflow: auto; outline: none; contain: strict; scrollbar-width: thin; }
    .rows { position: relative; }
    .row {
      display: grid; align-items: center; height: var(--row); padding: 0 14px; column-gap: 12px; white-space: nowrap;
      grid-template-columns: 62px 62px minmax(140px, 1.5fr) 64px 72px 74px minmax(120px, 1fr); font-variant-numeric: tabular-nums;
    }
    .rows .row { position: absolute; left: 0; right: 0; top: 0; cursor: default; contain: strict; border-bottom: 1px solid var(--soft); }
    .rows .row:hover { background: var(--hover); }
    .rows .row[aria-selected="true"] { background: var(--chosen); }
    .row > * { overflow: hidden; text-overflow: ellipsis; min-width: 0; }
    .row .right { text-align: right; }
    .row.head { flex: none; height: 30px; border-bottom: 1px solid var(--line); color: var(--faint); font-size: 11.5px; background: var(--surface); }
    .row.head button {
      border: 0; background: none; padding: 0; border-radius: 3px; color: inherit; font-size: inherit; text-align: left;
    }
    .row.head button.right { text-align: right; }
    .row.head button:hover, .row.head button[data-sorted] { color: var(--text); }
    .row.head button[data-sorted="up"]::after { content: " ↑"; }
    .row.head button[data-sorted="down"]::after { content: " ↓"; }
    .state { display: flex; align-items: center; gap: 7px; font-weight: 560; }
    .state::before { content: ""; width: 6px; height: 6px; border-radius: 50%; background: currentColor; flex: none; }
    .tone-good { color: var(--good); } .tone-move { color: var(--move); } .tone-warn { color: var(--warn); }
    .tone-bad { color: var(--bad); } .tone-open { color: var(--faint); }
    .tone-open.is-open::before { animation: breathe 1.2s ease-in-out infinite; }
    @keyframes breathe { 50% { opacity: .25; } }
    @media (prefers-reduced-motion: reduce) { * { animation: none !important; } }
    .method { font: 11.5px var(--mono); color: var(--quiet); }
    .name { display: flex; gap: 8px; align-items: baseline; }
    .name .path { overflow: hidden; text-overflow: ellipsis; flex: 0 1 auto; }
    .name .path i, .url i { font-style: normal; color: var(--faint); }
    .name .host { color: var(--faint); font-size: 12px; overflow: hidden; text-overflow: ellipsis; flex: 1 1 0; }
    .tag {
      flex: none; font-size: 10.5px; line-height: 15px; padding: 0 5px; border-radius: 4px; background: var(--raised); color: var(--quiet);
    }
    .faint { color: var(--faint); } .quiet { color: var(--quiet); }
    .slow { color: var(--warn); }
    .fall { position: relative; height: 100%; overflow: hidden; }
    .fall span { position: absolute; top: 11px; height: 8px; border-radius: 2px; min-width: 2px; background: var(--t-wait); }
    .fall span.before { background: var(--t-queue); }
    .fall span.after { background: var(--t-receive); }
    .fall.tone-bad span { background: var(--bad); } .fall.tone-open span { opacity: .5; }
    .scale { position: relative; height: 100%; font-size: 10.5px; }
    .scale span { position: absolute; top: 7px; padding-left: 4px; border-left: 1px solid var(--line); }

    .divider { flex: none; width: 7px; margin: 0 -3px; cursor: col-resize; z-index: 2; touch-action: none; }
    .divider:hover, .divider.dragged { background: var(--accent-soft); }
    .detail {
      flex: none; width: var(--side); min-width: 340px; max-width: 80%; display: flex; flex-direction: column; min-height: 0;
      border-left: 1px solid var(--line); background: var(--surface);
    }
    .detail .top { padding: 12px 16px 0; border-bottom: 1px solid var(--line); }
    .line { display: flex; align-items: center; gap: 10px; }
    .line .state { font-size: 14px; } .line .spring { flex: 1; }
    .line button.icon { width: 24px; height: 24px; border-color: transparent; background: none; }
    .url { font: 12.5px/1.5 var(--mono); margin: 6px 0 10px; overflow-wrap: anywhere; max-height: 7.5em; overflow: auto; user-select: text; }
    .url b { font-weight: 600; }
    .tools { display: flex; flex-wrap: wrap; gap: 6px; margin-bottom: 10px; }
    .tools button { font-size: 12px; padding: 2px 9px; }
    .tabs { display: flex; gap: 18px; }
    .tabs button {
      border: 0; border-bottom: 2px solid transparent; border-radius: 0; background: none; padding: 5px 0 7px; color: var(--quiet);
    }
    .tabs button[aria-selected="true"] { color: var(--text); border-color: var(--accent); font-weight: 560; }
    .tabs button small { color: var(--faint); font-size: 11px; font-weight: 400; margin-left: 4px; }
    .pane { flex: 1; overflow: auto; padding: 4px 16px 32px; outline: none; scrollbar-width: thin; }
    .pane h2 {
      font-size: 11.5px; font-weight: 600; color: var(--faint); margin: 18px 0 6px; display: flex; gap: 8px; align-items: baseline;
    }
    .pane h2 .spring { flex: 1; } .pane h2 small { font-size: 11.5px; font-weight: 400; }
    .pane h2 button { font-size: 11px; padding: 0 7px; font-weight: 400; }
    .facts { display: grid; grid-template-columns: minmax(90px, max-content) minmax(0, 1fr); gap: 3px 16px; margin: 0; }
    .facts dt { color: var(--quiet); overflow-wrap: anywhere; max-width: 220px; }
    .facts dd { margin: 0; font: 12.5px/1.5 var(--mono); overflow-wrap: anywhere; user-select: text; }
    .facts.fields dt { font: 12.5px/1.5 var(--mono); }
    .hidden-value { color: var(--faint); background: var(--raised); border-radius: 4px; padding: 0 5px; }
    .trouble {
      margin: 14px 0 0; padding: 10px 12px; border-radius: 8px; background: var(--bad-soft); color: var(--bad); overflow-wrap: anywhere;
    }
    .trouble b { display: block; font-weight: 600; }
    .trouble p { margin: 2px 0 0; color: var(--text); }
    .note { color: var(--quiet); margin: 6px 0; }
    .body {
      font: 12.5px/1.55 var(--mono); margin: 0; padding: 10px 12px; background: var(--ground); border: 1px solid var(--line);
      border-radius: 8px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; user-select: text;
    }
    .body.wide { white-space: pre; overflow-wrap: normal; }
    .body .k { color: var(--key); } .body .s { color: var(--string); } .body .n { color: var(--number); } .body .w { color: var(--word); }
    .phases { display: grid; grid-template-columns: max-content 1fr max-content; gap: 4px 12px; align-items: center; }
    .phases .track { position: relative; height: 10px; background: var(--raised); border-radius: 3px; }
    .phases .track span { position: absolute; top: 0; bottom: 0; min-width: 2px; border-radius: 3px; }
    .phases .total { font-weight: 600; } .phases .right, .phases .total:last-child { text-align: right; }
    .p-blocked { background: var(--t-queue); } .p-dns { background: var(--t-dns); } .p-connect { background: var(--t-connect); }
    .p-ssl { background: var(--t-ssl); } .p-send { background: var(--t-send); } .p-wait { background: var(--t-wait); }
    .p-receive { background: var(--t-receive); }
    .attempts { width: 100%; border-collapse: collapse; }
    .attempts th { text-align: left; font-weight: 400; color: var(--faint); font-size: 11.5px; padding: 2px 10px 2px 0; }
    .attempts td { padding: 3px 10px 3px 0; border-top: 1px solid var(--soft); font: 12.5px/1.5 var(--mono); overflow-wrap: anywhere; vertical-align: top; }

    .empty { position: absolute; inset: 30px 0 0; display: grid; place-content: center; text-align: center; padding: 24px; color: var(--quiet); }
    .empty b { color: var(--text); font-size: 15px; font-weight: 600; letter-spacing: -.01em; }
    .empty p { margin: 6px 0 0; max-width: 44ch; }
    .empty button { margin-top: 14px; justify-self: center; }
    .status {
      display: flex; gap: 18px; padding: 5px 14px; border-top: 1px solid var(--line); color: var(--quiet); font-size: 12px;
      font-variant-numeric: tabular-nums; white-space: nowrap; overflow: hidden;
    }
    .status .spring { flex: 1; }
    .sheet {
      border: 1px solid var(--line); border-radius: 12px; background: var(--surface); color: var(--text); padding: 20px 24px 22px;
      width: min(720px, calc(100vw - 32px)); max-height: calc(100vh - 48px); box-shadow: 0 18px 60px rgb(0 0 0 / .22);
    }
    .sheet::backdrop { background: rgb(10 12 18 / .38); }
    .sheet h2 { font-size: 15px; font-weight: 650; margin: 0 0 4px; letter-spacing: -.01em; }
    .sheet h3 { font-size: 11.5px; font-weight: 600; color: var(--faint); margin: 18px 0 6px; }
    .sheet .facts dt { font: 12.5px/1.6 var(--mono); color: var(--text); }
    .sheet .facts dd { font: 13px/1.6 var(--sans); color: var(--quiet); }
    .sheet .line { margin-top: 16px; justify-content: flex-end; }
    .toast {
      position: fixed; left: 50%; bottom: 44px; transform: translate(-50%, 8px); opacity: 0; pointer-events: none; transition: .16s;
      background: var(--text); color: var(--surface); padding: 6px 14px; border-radius: 8px; font-size: 12.5px; max-width: 80vw;
    }
    .toast.shown { opacity: 1; transform: translate(-50%, 0); }

    .narrow .row { grid-template-columns: 58px 56px minmax(100px, 1fr) 64px; column-gap: 10px; }
    .narrow .row .c-type, .narrow .row .c-size, .narrow .row .c-fall { display: none; }
    .with-detail.medium .row { grid-template-columns: 58px 58px minmax(120px, 1fr) 72px; }
    .with-detail.medium .row .c-type, .with-detail.medium .row .c-size, .with-detail.medium .row .c-fall { display: none; }
    .narrow .detail { position: fixed; inset: 0; width: auto; max-width: none; border: 0; z-index: 5; }
    .narrow .divider { display: none; }
    .narrow .bar { flex-wrap: wrap; gap: 8px 12px; } .narrow .search { order: 3; flex-basis: 100%; max-width: none; }
    .narrow .status .extra, .narrow .search kbd { display: none; }
    .phone { --row: 48px; }
    .phone .row { grid-template: "status name time" "method name time" / 58px minmax(0, 1fr) 60px; align-content: center; }
    .phone .c-status { grid-area: status; } .phone .method { grid-area: method; padding-left: 13px; } .phone .head .c-method { display: none; }
    .phone .c-name, .phone .name { grid-area: name; } .phone .c-time { grid-area: time; }
    .phone .name { flex-wrap: wrap; gap: 0 6px; } .phone .name .path { flex: 0 0 100%; }
    @media print { body { display: block; overflow: visible; } .bar nav, .chips { display: none; } }
    """#

  /// What it does.
  static let script = #"""
    "use strict";
    (() => {
    // Makes elements without markup, and formats numbers.

    const $ = (id) => document.getElementById(id);

    /** An element. Children are texts or elements, never markup: what was recorded is only ever shown. */
    function make(tag, settings = {}, ...children) {
      const element = document.createElement(tag);
      for (const [name, value] of Object.entries(settings)) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (name === 'class') element.className = value;
        else element.setAttribute(name, value === true ? '' : value);
      }
      element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
      return element;
    }

    function bytes(count) {
      if (!(count >= 0)) return '';
      if (count < 1000) return `${count} B`;
      for (const unit of ['kB', 'MB', 'GB']) {
        count /= 1000;
        if (count < 999.5) return `${count < 9.95 ? count.toFixed(1) : Math.round(count)} ${unit}`;
      }
      return `${(count / 1000).toFixed(1)} TB`;
    }

    function duration(ms) {
      if (!(ms >= 0)) return '';
      if (ms < 1) return ms === 0 ? '0 ms' : `${ms < 0.01 ? '<0.01' : ms.toFixed(2)} ms`;
      if (ms < 10) return `${ms.toFixed(1)} ms`;
      if (ms < 1000) return `${Math.round(ms)} ms`;
      if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
      const minutes = Math.round(ms / 60_000);
      return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
    }

    const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f');

    function clock(ms) {
      const date = new Date(ms);
      if (Number.isNaN(date.getTime())) return '';
      const two = (value, places = 2) => String(value).padStart(places, '0');
      return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${two(date.getMilliseconds(), 3)}`;
    }

    function toast(text) {
      const element = $('toast');
      element.textContent = text;
      element.classList.add('shown');
      clearTimeout(toast.timer);
      toast.timer = setTimeout(() => element.classList.remove('shown'), 1800);
    }

    async function copy(text, what) {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // Some browsers do not allow a local file to use the clipboard API.
        const area = make('textarea', { readonly: true });
        area.value = text;
        (document.querySelector('dialog[open]') ?? document.body).append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
      }
      toast(`${what} copied`);
    }
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
    })();
    """#
}
