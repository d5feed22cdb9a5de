// How a row looks, by kind. Each class makes its node once and then changes only what changed.

import { CardRow } from './card.js';
import { clock, copier, el, expander, say, show } from './dom.js';
import { Markdown } from './markdown.js';

const PREVIEW_MAX = 240;

/** The row's object: `{ node, update(row, added) }`; `added` is text at its end, or null. */
export function makeRow(row, hooks) {
  const Kind = KINDS[row.kind] ?? OtherRow;
  return new Kind(row, hooks);
}

/** What rows have in common: an article with a name, and a button for the frames that made it. */
function article(row, kind, name, hooks, ...children) {
  const choose = el('button', { type: 'button', className: 'quiet frames', title: 'Show the frames that made this' }, 'Frames');
  choose.addEventListener('click', () => hooks.choose(row.id, true));
  const tools = el('div', { className: 'tools' }, el('time', { dateTime: new Date(row.at).toISOString() }, clock(row.at)), choose);
  const node = el('article', { className: `row ${kind}`, 'aria-label': name, 'data-id': row.id }, ...children, tools);
  node.addEventListener('click', (event) => {
    const busy = event.target.closest('button, a, pre') || !getSelection().isCollapsed;
    if (!busy) hooks.choose(row.id, false);
  });
  return { node, tools };
}

class UserRow {
  constructor(row, hooks) {
    this.text = el('div', { className: 'said' });
    this.node = article(row, 'user', 'You', hooks, this.text).node;
    this.update(row);
  }

  update(row) {
    say(this.text, row.text);
  }
}

/** Markdown that grows, or is made anew. */
class Prose {
  constructor(className) {
    this.node = el('div', { className: `prose ${className}` });
    this.reset('');
  }

  reset(text) {
    this.node.replaceChildren();
    this.markdown = new Markdown(this.node);
    if (text) this.markdown.append(text);
  }

  /** `before` is the row as it was painted; after a connection that broke it is often the same. */
  update(row, added, before) {
    if (added !== null) this.markdown.append(added);
    else if (row.text !== before?.text) this.reset(row.text);
  }

  settle() {
    this.markdown.settle();
  }
}

class AssistantRow {
  constructor(row, hooks) {
    this.prose = new Prose('answer');
    const { node, tools } = article(row, 'assistant', 'Assistant', hooks, this.prose.node);
    tools.append(copier(() => this.row.text));
    this.node = node;
    this.update(row, null);
  }

  update(row, added) {
    const before = this.row;
    this.row = row;
    // A row of blanks alone stays in the ring and is not painted.
    show(this.node, row.text.trim() !== '');
    this.prose.update(row, added, before);
  }

  settle() {
    this.prose.settle();
  }
}

class ThinkingRow {
  constructor(row, hooks) {
    this.row = row;
    this.prose = null;
    this.preview = el('span', { className: 'preview' });
    this.button = el('button', { type: 'button', className: 'fold' }, el('span', { className: 'chevron', 'aria-hidden': 'true' }), el('span', { className: 'label' }, 'Thinking'), this.preview);
    this.body = el('div', { className: 'body' });
    const head = el('div', { className: 'thinking-head' }, this.button, copier(() => this.row.text));
    this.node = article(row, 'thinking', 'Thinking', hooks, head, this.body).node;
    this.set = expander(this.button, this.body, false, () => this.fill());
    this.button.addEventListener('click', () => this.peek());
    this.update(row, null);
  }

  update(row, added) {
    const before = this.row;
    this.row = row;
    // What nobody sees is made again when it is opened.
    if (this.body.hidden) this.prose = null;
    else this.prose?.update(row, added, before);
    if (!('chosen' in this.button.dataset)) {
      const open = row.collapsed !== true;
      if (open === this.body.hidden) this.set(open);
    }
    this.peek();
  }

  /** The text is formatted when somebody is to see it. */
  fill() {
    if (this.prose) return;
    this.prose = new Prose('thought');
    this.body.replaceChildren(this.prose.node);
    this.prose.reset(this.row.text);
  }

  settle() {
    this.prose?.settle();
  }

  peek() {
    const open = !this.body.hidden;
    say(this.preview, open ? '' : this.row.text.slice(0, PREVIEW_MAX).replace(/[\s*_`#>]+/g, ' ').trim());
  }
}

/** One line: how a turn ended, an error, a notice. */
class LineRow {
  constructor(row, hooks) {
    this.text = el('span', { className: 'words' });
    const kind = row.kind === 'error' ? 'failure' : 'line';
    const name = row.kind === 'error' ? 'Error' : 'Note';
    this.node = article(row, kind, name, hooks, el('p', {}, this.text)).node;
    this.update(row);
  }

  update(row) {
    const detail = row.kind === 'notice' && row.detail ? ` · ${row.detail}` : '';
    say(this.text, (row.text || row.code || '') + detail);
  }
}

const NAMES = { question: 'Question', approval: 'Approval', subagent: 'Subagent', media: 'Media', plan: 'Plan' };

/** Rows of other kinds, and of kinds to come: what they are and say, as words. */
class OtherRow {
  constructor(row, hooks) {
    const name = NAMES[row.kind] ?? row.kind;
    this.status = el('span', { className: 'muted' });
    this.text = el('div', { className: 'said' });
    const head = el('p', { className: 'label' }, name, ' ', this.status);
    this.node = article(row, 'other', name, hooks, head, this.text).node;
    this.update(row);
  }

  update(row) {
    const asked = row.questions?.map((question) => question.text) ?? [];
    const effects = row.effects?.map((effect) => effect.text) ?? [];
    const more = [row.task, row.prompt, ...asked, ...effects, row.summary, row.error, row.url, row.reason];
    say(this.status, row.status ?? '');
    say(this.text, [row.text, ...more].filter(Boolean).join('\n'));
  }
}

class ToolRow extends CardRow {
  constructor(row, hooks) {
    super(row, (...children) => article(row, 'card', 'Tools', hooks, ...children).node);
  }
}

const KINDS = {
  user: UserRow,
  assistant: AssistantRow,
  thinking: ThinkingRow,
  tool_run: ToolRow,
  system: LineRow,
  error: LineRow,
  notice: LineRow,
};
