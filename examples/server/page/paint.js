// From a view and what changed in it to nodes. One call a frame at most; it costs what changed.

import { makeRow } from './rows.js';

export class Transcript {
  /** `log` holds the rows; `stick` follows the end; `hooks` are what rows call. */
  constructor(log, stick, hooks) {
    this.log = log;
    this.stick = stick;
    this.hooks = hooks;
    /** By id: `{ node, update, row }`. */
    this.rows = new Map();
    this.list = [];
    this.chosen = null;
    this.busy = false;
  }

  /**
   * Paints `view`. `changes` has the ids that changed, each with the text that was added at its end
   * or null; without it everything is compared.
   */
  paint(view, changes) {
    if (view.rows !== this.list) {
      if (!this.sameRows(view.rows)) this.arrange(view);
      this.list = view.rows;
    }
    for (const row of changes ? this.changed(view.rows, changes) : view.rows) {
      const painted = this.rows.get(row.id);
      if (painted.row === row) continue;
      painted.update(row, changes?.get(row.id) ?? null);
      painted.row = row;
    }
    const busy = view.lifecycle === 'busy';
    // When a turn has ended, no row of it goes on.
    if (!busy) {
      const ended = this.busy || !changes ? this.rows.keys() : changes.keys();
      for (const id of ended) this.rows.get(id)?.settle?.();
    }
    this.busy = busy;
    this.stick.follow();
  }

  *changed(rows, changes) {
    if (changes.size === 0) return;
    // The newest rows are the ones that change, so they are looked at first.
    let left = changes.size;
    for (let i = rows.length - 1; i >= 0 && left > 0; i -= 1) {
      if (!changes.has(rows[i].id)) continue;
      left -= 1;
      yield rows[i];
    }
  }

  sameRows(rows) {
    const { list } = this;
    return rows.length === list.length && rows[0]?.id === list[0]?.id && rows.at(-1)?.id === list.at(-1)?.id;
  }

  /** Makes, moves and removes nodes so that they are in the order of the rows. */
  arrange(view) {
    const ids = new Set(view.rows.map((row) => row.id));
    const replaced = this.list.length > 0 && !this.list.some((row) => ids.has(row.id));
    const held = replaced && !this.stick.near ? this.stick.hold(this.painted(this.list)) : null;
    for (const [id, { node }] of this.rows) {
      if (ids.has(id)) continue;
      node.remove();
      this.rows.delete(id);
    }
    let next = this.log.firstElementChild;
    for (const row of view.rows) {
      let painted = this.rows.get(row.id);
      if (!painted) {
        painted = makeRow(row, this.hooks);
        painted.row = row;
        this.rows.set(row.id, painted);
      }
      if (painted.node === next) next = next.nextElementSibling;
      else this.log.insertBefore(painted.node, next);
    }
    if (held) this.stick.restore(held, this.painted(view.rows));
  }

  *painted(list) {
    for (const { id } of list) yield this.rows.get(id);
  }

  /** Marks the row that was chosen; null for none. */
  choose(id) {
    this.rows.get(this.chosen)?.node.classList.remove('chosen');
    this.chosen = id;
    this.rows.get(id)?.node.classList.add('chosen');
  }
}
