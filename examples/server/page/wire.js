// The wire: each raw frame as it passes. A list of lines of one height, of which only those in
// sight exist; so it costs the same however many frames come.

import { clock, el, say, show, size } from './dom.js';

const KEPT_MAX = 2000;
const LINE_PX = 28;
const SPARE = 4;
const PAUSE_MS = 120;
/** What most frames begin with, and the column before says already. */
const LEAD = /^data: \{"type":"\w+",?/;

export class Wire {
  constructor(pane, choose) {
    const part = (name) => pane.querySelector(`[data-wire-${name}]`);
    this.pane = pane;
    this.frames = [];
    this.total = { frames: 0, bytes: 0 };
    this.shown = [];
    this.held = null;
    this.row = null;
    this.active = null;
    this.filter = part('filter');
    this.pause = part('pause');
    this.count = part('count');
    this.list = part('list');
    this.room = part('room');
    this.chosen = part('chosen');
    this.chosenText = part('chosen-text');
    this.detail = part('detail');
    this.detailHead = part('detail-head');
    this.detailText = part('detail-text');
    this.empty = part('empty');
    this.lines = new Map();
    this.near = true;
    this.stale = false;
    this.painted = 0;
    this.filter.addEventListener('input', () => this.refresh());
    this.pause.addEventListener('click', () => this.setPaused(!this.held));
    part('clear').addEventListener('click', () => choose(null));
    part('close').addEventListener('click', () => this.open(null));
    this.list.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.list.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  /** What a new connection begins with: the last frames. */
  start(frames) {
    this.frames = [];
    this.total = { frames: 0, bytes: 0 };
    this.add(frames);
    this.refresh();
  }

  add(frames) {
    for (const frame of frames) {
      this.frames.push(frame);
      this.total.frames = frame.n;
      this.total.bytes += frame.bytes;
    }
    if (this.frames.length > KEPT_MAX) this.frames.splice(0, this.frames.length - KEPT_MAX);
    this.stale = true;
  }

  /**
   * Called once a frame of the screen; paints more seldom, since nobody reads so fast. Gives the
   * time after which to call again, or 0.
   */
  paint(now) {
    if (!this.stale || this.pane.hidden) return 0;
    const wait = this.painted + PAUSE_MS - now;
    if (wait > 0) return wait;
    this.painted = now;
    this.stale = false;
    this.refresh();
    return 0;
  }

  setPaused(paused) {
    this.held = paused ? this.frames.slice() : null;
    this.pause.setAttribute('aria-pressed', String(paused));
    say(this.pause, paused ? 'Resume' : 'Pause');
    this.refresh();
  }

  /** Marks the frames that made a row; null marks none. */
  choose(row) {
    this.row = row;
    show(this.chosen, row !== null);
    this.refresh();
    if (row === null) return;
    const made = this.shown.filter((frame) => this.isMarked(frame));
    const words = made.length === 1 ? '1 frame made this row' : `${made.length} frames made this row`;
    say(this.chosenText, made.length ? words : 'The frames that made this row are gone');
    if (made.length) this.reveal(this.shown.indexOf(made[0]));
  }

  isMarked(frame) {
    return this.row !== null && frame.rows.includes(this.row);
  }

  refresh() {
    const wanted = this.filter.value.trim().toLowerCase();
    const frames = this.held ?? this.frames;
    const fits = (frame) => frame.type.includes(wanted) || frame.text.toLowerCase().includes(wanted);
    this.shown = wanted ? frames.filter(fits) : frames;
    const { frames: n, bytes } = this.total;
    say(this.count, `${n.toLocaleString('en')} ${n === 1 ? 'frame' : 'frames'} · ${size(bytes)}`);
    show(this.empty, this.shown.length === 0);
    show(this.list, this.shown.length > 0);
    say(this.empty, frames.length ? 'No frame matches.' : 'Nothing has passed yet.');
    this.draw();
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.list;
    this.near = scrollHeight - scrollTop - clientHeight < LINE_PX * 2;
    this.draw();
  }

  /** Makes the lines that are in sight. */
  draw() {
    const { shown, list } = this;
    const height = list.clientHeight;
    if (height === 0) return;
    this.room.style.height = `${shown.length * LINE_PX}px`;
    if (this.near && !this.held && this.row === null) list.scrollTop = shown.length * LINE_PX;
    const first = Math.max(0, Math.floor(list.scrollTop / LINE_PX) - SPARE);
    const last = Math.min(shown.length, Math.ceil((list.scrollTop + height) / LINE_PX) + SPARE);
    const wanted = new Set(shown.slice(first, last).map((frame) => frame.n));
    const free = [];
    for (const [n, line] of this.lines) {
      if (wanted.has(n)) continue;
      free.push(line);
      this.lines.delete(n);
    }
    // Lines are in the order in which they are read, also those that are used again.
    let next = this.room.firstElementChild;
    for (let at = first; at < last; at += 1) {
      const frame = shown[at];
      let line = this.lines.get(frame.n);
      if (!line) {
        line = free.pop() ?? new Line((chosen) => this.open(chosen));
        line.fill(frame);
        this.lines.set(frame.n, line);
      }
      line.put(at, shown.length, this.isMarked(frame), frame.n === this.active?.n);
      if (line.node === next) next = next.nextElementSibling;
      else this.room.insertBefore(line.node, next);
    }
    for (const line of free) line.node.remove();
    const active = this.active && this.lines.get(this.active.n);
    if (active) list.setAttribute('aria-activedescendant', active.node.id);
    else list.removeAttribute('aria-activedescendant');
  }

  /** Shows a frame in full; null closes it. */
  open(frame) {
    this.active = frame;
    show(this.detail, frame !== null);
    if (frame) {
      const way = frame.dir === 'out' ? 'sent' : 'received';
      say(this.detailHead, `#${frame.n} · ${frame.type} · ${size(frame.bytes)} · ${way} ${clock(frame.at, true)}`);
      say(this.detailText, frame.text.trimEnd());
    }
    this.draw();
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.list.clientHeight / LINE_PX) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -KEPT_MAX, End: KEPT_MAX };
    if (event.key === 'Escape' && this.active) {
      event.stopPropagation();
      return this.open(null);
    }
    const step = steps[event.key];
    if (!step || this.shown.length === 0) return;
    event.preventDefault();
    const now = this.shown.indexOf(this.active);
    const from = now < 0 ? (step > 0 ? -1 : this.shown.length) : now;
    const to = Math.min(this.shown.length - 1, Math.max(0, from + step));
    this.open(this.shown[to]);
    this.reveal(to);
  }

  reveal(at) {
    const { list } = this;
    const top = at * LINE_PX;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + LINE_PX > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
    this.near = false;
    this.draw();
  }
}

let lines = 0;

/** A line of the list, used again for another frame when its own is out of sight. */
class Line {
  constructor(open) {
    this.time = el('span', { className: 'time' });
    this.type = el('span', { className: 'type' });
    this.size = el('span', { className: 'size' });
    this.text = el('span', { className: 'text' });
    lines += 1;
    this.node = el('div', { className: 'frame', role: 'option', id: `frame-${lines}` }, this.time, this.type, this.size, this.text);
    this.node.addEventListener('click', () => open(this.frame));
  }

  fill(frame) {
    this.frame = frame;
    this.time.textContent = clock(frame.at, true);
    this.type.textContent = frame.type;
    this.type.dataset.type = frame.dir === 'out' ? 'out' : frame.type;
    this.size.textContent = size(frame.bytes);
    this.text.textContent = frame.text.slice(0, 300).replace(LEAD, '').replace(/\s+/g, ' ');
  }

  put(at, of, marked, active) {
    const top = `${at * LINE_PX}px`;
    if (this.node.style.top !== top) this.node.style.top = top;
    this.node.setAttribute('aria-posinset', at + 1);
    this.node.setAttribute('aria-setsize', of);
    this.node.setAttribute('aria-selected', String(active));
    this.node.classList.toggle('marked', marked);
  }
}
