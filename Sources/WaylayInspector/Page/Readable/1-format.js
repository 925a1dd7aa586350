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
