// A card of tool calls: a line with counts, the calls, and a preview of what each gave.

import { el, expander, say, show, unseen } from './dom.js';

const STATUS = {
  running: ['…', 'running'],
  ok: ['✓', 'succeeded'],
  fail: ['✗', 'failed'],
};

export class CardRow {
  /** `wrap` makes the row's node of its children. */
  constructor(row, wrap) {
    this.items = new Map();
    this.label = el('span', { className: 'label' });
    this.chips = {
      ok: chip('ok', 'succeeded'),
      fail: chip('fail', 'failed'),
      pending: chip('running', 'running'),
    };
    this.now = el('span', { className: 'preview' });
    const chips = el('span', { className: 'chips' }, ...Object.values(this.chips).map((c) => c.node));
    this.button = el('button', { type: 'button', className: 'fold' }, el('span', { className: 'chevron', 'aria-hidden': 'true' }), this.label, chips, this.now);
    this.list = el('ul', { className: 'calls' });
    this.node = wrap(this.button, this.list);
    expander(this.button, this.list, false, () => this.fill(this.row.card));
    this.update(row);
  }

  update(row) {
    if (row.card === this.row?.card) return;
    this.row = row;
    const { ok, fail, pending, items } = row.card;
    const total = items.length;
    say(this.label, total === 1 ? '1 tool called' : `${total} tools called`);
    for (const [name, count] of Object.entries({ ok, fail, pending })) this.chips[name].set(count);
    const last = items.findLast((item) => item.status === 'running') ?? items.at(-1);
    say(this.now, last ? brief(last) : '');
    this.node.classList.toggle('busy', pending > 0);
    if (!this.list.hidden) this.fill(row.card);
  }

  /** Calls are painted while the card is open; each again only when it is another object. */
  fill(card) {
    for (const item of card.items) {
      let call = this.items.get(item.id);
      if (!call) {
        call = new Call();
        this.items.set(item.id, call);
        this.list.append(call.node);
      }
      if (call.item !== item) call.update(item);
    }
  }
}

/** A count that is shown only when there is something to count. */
function chip(status, words) {
  const [mark] = STATUS[status];
  const text = el('span', { 'aria-hidden': 'true' });
  const spoken = unseen('');
  const node = el('span', { className: `chip ${status}`, hidden: true }, text, spoken);
  return {
    node,
    set(count) {
      show(node, count > 0);
      say(text, `${mark} ${count}`);
      say(spoken, ` ${count} ${words} `);
    },
  };
}

/** What a call's line says after its name. */
function brief(item) {
  const parts = item.brief.split(' · ');
  if (parts[0] === item.name) parts.shift();
  if (['ok', 'failed'].includes(parts[0])) parts.shift();
  return `${item.name}${parts.length ? ` · ${parts.join(' · ')}` : ''}`;
}

class Call {
  constructor() {
    this.mark = el('span', { 'aria-hidden': 'true' });
    this.spoken = unseen('');
    this.name = el('span', { className: 'name' });
    this.brief = el('span', { className: 'brief' });
    this.head = null;
    this.shown = '';
    this.text = document.createTextNode('');
    this.detail = el('pre', { className: 'detail', tabIndex: 0, role: 'region', hidden: true }, this.text);
    this.node = el('li', {});
  }

  update(item) {
    this.item = item;
    const [mark, words] = STATUS[item.status] ?? STATUS.running;
    this.mark.className = `mark ${item.status}`;
    say(this.mark, mark);
    say(this.spoken, ` ${words}: `);
    say(this.name, item.name);
    say(this.brief, brief(item).slice(item.name.length).replace(/^ · /, ''));
    const detail = item.detail !== '';
    if (!this.head || detail !== this.opens) this.makeHead(detail);
    if (!this.detail.hidden) this.fill();
  }

  /** A call with a preview has a button; one without is a plain line. */
  makeHead(opens) {
    this.opens = opens;
    const parts = [this.mark, this.spoken, this.name, this.brief];
    if (opens) {
      this.head = el('button', { type: 'button', className: 'call' }, ...parts, el('span', { className: 'chevron', 'aria-hidden': 'true' }));
      expander(this.head, this.detail, false, () => this.fill());
    } else {
      this.head = el('div', { className: 'call' }, ...parts);
      this.detail.hidden = true;
    }
    this.node.replaceChildren(this.head, this.detail);
  }

  fill() {
    const { detail, name } = this.item;
    this.detail.setAttribute('aria-label', `What ${name} gave`);
    if (detail === this.shown) return;
    if (this.shown && detail.startsWith(this.shown)) {
      this.text.appendData(detail.slice(this.shown.length));
    } else {
      this.text.data = detail;
    }
    this.shown = detail;
  }
}
