// Follows the newest row while the reader is near it, and leaves the reader alone otherwise.

import { show } from './dom.js';

const NEAR_PX = 96;
/** Frames of the screen in which rows that were never seen get their heights. */
const SETTLE_FRAMES = 4;

export class Stick {
  constructor(scroller, content, jump) {
    this.scroller = scroller;
    this.jump = jump;
    this.near = true;
    /** Where the last scroll of ours went: it says nothing about the reader. */
    this.own = -1;
    scroller.addEventListener('scroll', () => this.look(), { passive: true });
    jump.addEventListener('click', () => this.toEnd());
    // Rows that come into sight get their real height, and a window can change its size.
    const observer = new ResizeObserver(() => this.follow());
    observer.observe(content);
    observer.observe(scroller);
  }

  look() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (Math.abs(scrollTop - this.own) < 2) return;
    this.own = -1;
    this.near = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    show(this.jump, !this.near);
  }

  follow() {
    if (!this.near) return;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.own = this.scroller.scrollTop;
  }

  toEnd() {
    this.near = true;
    show(this.jump, false);
    this.follow();
  }

  /** The row at the upper edge and how far it is from it, to come back to. */
  hold(rows) {
    const top = this.scroller.getBoundingClientRect().top;
    for (const { node, row } of rows) {
      const box = node.getBoundingClientRect();
      if (box.bottom > top) return { row, offset: box.top - top };
    }
    return null;
  }

  restore(held, rows) {
    const { row, offset } = held;
    for (const { node, row: other } of rows) {
      if (other.at !== row.at || other.kind !== row.kind || other.text !== row.text) continue;
      this.pin(node, offset, SETTLE_FRAMES);
      return;
    }
  }

  /** Keeps the node where it is while rows around it get their real heights. */
  pin(node, offset, frames) {
    const top = this.scroller.getBoundingClientRect().top;
    this.scroller.scrollTop += node.getBoundingClientRect().top - top - offset;
    if (frames > 0) requestAnimationFrame(() => this.pin(node, offset, frames - 1));
  }
}
