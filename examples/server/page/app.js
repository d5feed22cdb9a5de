// Puts the parts together: what comes from the server is applied at once, and painted at most once
// in each frame of the screen.

import { el, say, show } from './dom.js';
import { Composer } from './composer.js';
import { Transcript } from './paint.js';
import { Stick } from './scroll.js';
import { Stream } from './stream.js';
import { EMPTY, applyOps } from './view.js';
import { Wire } from './wire.js';

const WIDE = matchMedia('(min-width: 1080px)');
const part = (name) => document.querySelector(`[data-${name}]`);

const STATES = {
  connecting: ['Connecting', ''],
  offline: ['Reconnecting', 'The connection was lost. Reconnecting; nothing is lost meanwhile.'],
  gone: ['Gone', 'The server no longer has this conversation.'],
};
const LIFECYCLES = { boot: 'Starting', ready: 'Ready', busy: 'Working', error: 'Out of order' };

const EXAMPLES = [
  ['Look around', 'list ., then read README.md, then find Lisbon'],
  ['Change a file', 'write Buy oranges to notes/today.md, then read notes/today.md'],
  ['See it think', 'think about streams'],
  ['See it stream', 'count to 2000'],
  ['Keep it busy', 'wait 20 seconds'],
];

const session = new URLSearchParams(location.search).get('session');
let view = EMPTY;
/** What changed since the last painting; null if everything may have. */
let changes = null;
let state = 'connecting';
let due = false;

const log = part('log');
const pane = part('wire');
const stick = new Stick(part('scroller'), part('content'), part('jump'));
const transcript = new Transcript(log, stick, { choose });
const wire = new Wire(pane, choose);
const composer = new Composer(part('composer'), (what, body) => {
  if (what === 'prompt') stick.toEnd();
  return stream.post(what, body);
});
const stream = new Stream(session, {
  view(start) {
    view = start.view;
    changes = null;
    wire.start(start.frames);
    schedule();
  },
  ops(batch) {
    view = { ...applyOps(view, batch.ops, note), revision: batch.revision };
    wire.add(batch.frames);
    schedule();
  },
  state(word) {
    state = word;
    schedule();
  },
});

function note(id, text) {
  if (!changes) return;
  const before = changes.get(id);
  if (before === undefined) changes.set(id, text);
  else changes.set(id, before === null || text === null ? null : before + text);
}

function schedule() {
  if (due) return;
  due = true;
  requestAnimationFrame(paint);
}

function paint(now) {
  due = false;
  const busy = view.lifecycle === 'busy';
  // Readers of the screen hear an answer when it is complete, not each word of it.
  if (log.getAttribute('aria-busy') !== String(busy)) log.setAttribute('aria-busy', String(busy));
  if (view !== EMPTY) {
    transcript.paint(view, changes);
    changes = new Map();
  }
  composer.paint(view);
  const wait = wire.paint(now);
  if (wait > 0) setTimeout(schedule, wait);
  paintHead(busy);
}

function paintHead(busy) {
  const [word, words] = STATES[state] ?? [LIFECYCLES[view.lifecycle] ?? view.lifecycle, ''];
  const phase = busy && state === 'live' ? view.state.phase : undefined;
  say(part('status'), typeof phase === 'string' ? `${word} · ${phase}` : word);
  document.documentElement.dataset.state = state === 'live' ? view.lifecycle : state;
  say(part('banner-text'), words);
  show(part('banner'), state === 'offline' || state === 'gone');
  show(part('anew'), state === 'gone');
  const { cwd, title } = view.state;
  say(part('cwd'), cwd ? (cwd === '.' ? 'workspace' : `workspace/${cwd}`) : '');
  show(part('cwd'), Boolean(cwd));
  const name = typeof title === 'string' ? title : view.rows.find((row) => row.kind === 'user')?.text;
  const shown = name ? `${name.slice(0, 60)} · turnwire` : 'turnwire';
  if (document.title !== shown) document.title = shown;
  show(part('earlier'), view.earlier > 0);
  part('earlier').disabled = busy;
  show(part('empty'), view !== EMPTY && view.rows.length === 0 && view.earlier === 0);
  show(part('working'), busy);
}

/** Chooses a row, or none, and shows the frames that made it. `open` opens the pane, too. */
function choose(id, open = false) {
  if (id !== null && !open && pane.hidden) return;
  const row = id === transcript.chosen && !open ? null : id;
  transcript.choose(row);
  if (row !== null && open) setPane(true);
  wire.choose(row);
}

const toggle = part('toggle');

function setPane(open) {
  show(pane, open);
  toggle.setAttribute('aria-expanded', String(open));
  document.documentElement.dataset.wire = open ? 'open' : 'closed';
  // Narrow screens have room for one of the two.
  part('main').inert = open && !WIDE.matches;
  if (open) wire.refresh();
}

toggle.addEventListener('click', () => setPane(pane.hidden));
part('hide').addEventListener('click', () => {
  setPane(false);
  toggle.focus();
});
addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  if (!pane.hidden && !WIDE.matches) {
    setPane(false);
    toggle.focus();
  } else if (transcript.chosen !== null) {
    choose(null);
  }
});
WIDE.addEventListener('change', () => setPane(WIDE.matches));
setPane(WIDE.matches);

part('earlier').addEventListener('click', async () => {
  try {
    await stream.post('earlier');
  } catch (error) {
    composer.say(error.message);
  }
});

async function anew() {
  try {
    const answer = await fetch('/page/sessions', { method: 'POST' });
    location.assign(`/?session=${encodeURIComponent((await answer.json()).id)}`);
  } catch {
    composer.say('The server cannot be reached. Try again in a moment.');
  }
}

for (const name of ['new', 'anew']) part(name).addEventListener('click', anew);

for (const [name, prompt] of EXAMPLES) {
  const words = [el('span', { className: 'name' }, name), ' ', el('span', { className: 'prompt' }, prompt)];
  const button = el('button', { type: 'button', className: 'example' }, ...words);
  button.addEventListener('click', () => composer.submit(prompt));
  part('examples').append(el('li', {}, button));
}

if (WIDE.matches) composer.input.focus();
schedule();
