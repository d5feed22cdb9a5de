// Markdown as it streams: lines into blocks. Gives nodes; HTML in it is text.
//
// Complete lines are final. The line that is still being written is tried, shown, and taken back
// when more of it comes; past a length it is taken as it is. So an append costs what was added and
// the tail of one block, however long the text is.

import { el, copier } from './dom.js';
import { inline } from './inline.js';

/** Characters of an unfinished line that are tried again and again. */
const TRIED_MAX = 512;
/** Characters of running text that are formatted anew when something is added. */
const TAIL_MAX = 4096;
/** Characters of one text or code element, so that the browser lays out no more than that again. */
const ELEMENT_MAX = 8192;
const DEPTH_MAX = 16;
const COLUMNS_MAX = 64;

const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const FENCE = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const ITEM = /^( {0,3})(?:([-*+])|(\d{1,9})[.)])( +|$)/;
const DELIMITER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const BLANK = /^[ \t]*$/;

/** Running text in an element. */
class Text {
  constructor(node) {
    this.node = node;
    this.tail = '';
    this.kept = 0;
    this.shown = [];
  }

  /** More text, for good. */
  append(text) {
    this.tail += text;
    while (this.tail.length > TAIL_MAX) {
      const cut = Math.max(this.tail.lastIndexOf(' ', TAIL_MAX / 2), this.tail.lastIndexOf('\n', TAIL_MAX / 2));
      const at = cut > 0 ? cut + 1 : TAIL_MAX / 2;
      this.clear();
      this.node.append(inline(this.tail.slice(0, at)));
      this.tail = this.tail.slice(at);
      this.kept += at;
      if (this.kept < ELEMENT_MAX || this.node.localName !== 'p') continue;
      const next = el('p', { className: 'more' });
      this.node.classList.add('split');
      this.node.after(next);
      this.node = next;
      this.kept = 0;
    }
  }

  clear() {
    for (const node of this.shown) node.remove();
    this.shown = [];
  }

  render() {
    this.clear();
    const nodes = inline(this.tail.trimEnd());
    this.shown = [...nodes.childNodes];
    this.node.append(nodes);
  }
}

/** A block of code. */
class Code {
  constructor(indent, fence, info) {
    this.indent = indent;
    this.fence = fence;
    this.body = el('code');
    this.pending = document.createTextNode('');
    const language = info.trim().split(/\s/)[0].slice(0, 40);
    const copy = copier(() => this.body.textContent);
    const head = el('div', { className: 'code-head' }, el('span', {}, language || 'text'), copy);
    const pre = el('pre', { tabIndex: 0, role: 'region', 'aria-label': `Code, ${language || 'text'}` }, this.body);
    this.node = el('div', { className: 'code' }, head, pre);
    this.next();
  }

  next() {
    this.part = document.createTextNode('');
    this.body.append(el('span', { className: 'part' }, this.part, this.pending));
  }

  append(text) {
    for (let rest = text; rest; ) {
      const room = ELEMENT_MAX * 2 - this.part.length;
      const piece = rest.slice(0, room);
      this.part.appendData(piece);
      rest = rest.slice(room);
      if (rest || (this.part.length > ELEMENT_MAX && piece.endsWith('\n'))) this.next();
    }
  }

  line(text) {
    const lead = /^ */.exec(text)[0].length;
    this.append(`${text.slice(Math.min(this.indent, lead))}\n`);
  }

  ends(text) {
    const found = /^ {0,3}(`+|~+)[ \t]*$/.exec(text);
    return found && found[1][0] === this.fence[0] && found[1].length >= this.fence.length;
  }

  render() {}
}

/** A text that grows into `root`. */
export class Markdown {
  constructor(root) {
    this.root = root;
    this.partial = '';
    /** Open containers, outermost first: `{ node, list?, indent?, ordered? }`. */
    this.stack = [{ node: root }];
    /** The open block: Text, Code or `{ table, columns }`. */
    this.leaf = null;
    /** The rest of a long line goes into the leaf. */
    this.within = false;
    this.dirty = new Set();
    this.tried = null;
  }

  append(text) {
    this.takeBack();
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.endLine(text.slice(from, end));
      from = end + 1;
    }
    const rest = text.slice(from);
    if (this.within) this.leaf.append(rest);
    else this.partial += rest;
    if (this.partial) this.tryLine();
    if (this.within) this.dirty.add(this.leaf);
    this.render();
  }

  render() {
    for (const leaf of this.dirty) leaf.render();
    this.dirty.clear();
  }

  endLine(text) {
    if (this.within) {
      this.leaf.append(this.leaf instanceof Code ? `${text}\n` : text);
      this.dirty.add(this.leaf);
      this.within = false;
      if (this.leaf instanceof Text && !this.leaf.lazy) this.leaf = null;
      return;
    }
    const line = this.partial + text;
    this.partial = '';
    this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  tryLine() {
    const long = this.partial.length > TRIED_MAX;
    if (long && !(this.leaf?.table && this.partial.includes('|'))) {
      this.line(this.partial, true);
      this.partial = '';
      this.within = Boolean(this.leaf?.append);
      return;
    }
    if (this.partial.length > TAIL_MAX || this.isUndecided()) return;
    this.show();
  }

  show() {
    this.tried = { stack: this.stack, leaf: this.leaf, tail: this.leaf?.tail, placed: [] };
    this.line(this.partial, true);
  }

  /** Nothing more is coming, as it seems: what was undecided is shown as it is. */
  settle() {
    if (!this.partial || this.tried) return;
    this.show();
    this.render();
  }

  /** What may still become something else is not shown yet: an end of code, a line of a table. */
  isUndecided() {
    if (this.leaf instanceof Code) return /^ {0,3}[`~]+[ \t]*$/.test(this.partial);
    return /^[-*_=+>#|:`~ \t]+$/.test(this.partial);
  }

  takeBack() {
    if (!this.tried) return;
    const { stack, leaf, tail, placed } = this.tried;
    for (const node of placed) node.remove();
    Object.assign(this, { stack, leaf, tried: null });
    if (leaf instanceof Code) leaf.pending.data = '';
    if (leaf instanceof Text) {
      leaf.tail = tail;
      this.dirty.add(leaf);
    }
  }

  place(node, parent = this.stack.at(-1).node) {
    parent.append(node);
    this.tried?.placed.push(node);
    return node;
  }

  /** A line; an open one is not complete yet. */
  line(text, open = false) {
    let rest = text.replace(/^\t+/, (tabs) => '    '.repeat(tabs.length));
    let depth = 1;
    for (; depth < this.stack.length; depth += 1) {
      const { list, indent } = this.stack[depth];
      if (!list) {
        const found = QUOTE.exec(rest);
        if (!found) break;
        rest = rest.slice(found[0].length);
      } else if (!BLANK.test(rest)) {
        if (/^ */.exec(rest)[0].length < indent) break;
        rest = rest.slice(indent);
      }
    }
    const all = depth === this.stack.length;
    const blank = BLANK.test(rest);
    if (this.leaf instanceof Code && all) return this.codeLine(rest, open);
    if (!all) {
      const lazy = !blank && this.leaf instanceof Text && this.leaf.lazy && !starts(rest);
      if (lazy) return this.textLine(rest);
      rest = this.sibling(depth, rest) ?? rest;
    }
    if (blank) {
      this.leaf = null;
      return;
    }
    this.block(rest, open);
  }

  codeLine(text, open) {
    if (this.leaf.ends(text)) this.leaf = null;
    else if (!open) this.leaf.line(text);
    else if (this.tried) this.leaf.pending.data = text;
    else this.leaf.append(text);
  }

  /** Leaves containers that do not go on; the next item of the same list goes on with its list. */
  sibling(depth, text) {
    const { list, ordered } = this.stack[depth];
    this.stack = this.stack.slice(0, depth);
    this.leaf = null;
    const found = list && !RULE.test(text) && ITEM.exec(text);
    if (!found || Boolean(found[3]) !== ordered) return null;
    return this.item(found, text, list);
  }

  block(text, open) {
    let rest = text;
    for (let found; this.stack.length < DEPTH_MAX; ) {
      if ((found = QUOTE.exec(rest))) {
        const node = this.place(el('blockquote'));
        this.stack = [...this.stack, { node }];
        rest = rest.slice(found[0].length);
      } else if (RULE.test(rest)) {
        this.leaf = null;
        this.place(el('hr'));
        return;
      } else if ((found = ITEM.exec(rest)) && !this.staysText(found)) {
        const start = Number(found[3]);
        const list = found[3] ? el('ol', start === 1 ? {} : { start }) : el('ul');
        rest = this.item(found, rest, this.place(list));
      } else {
        break;
      }
      this.leaf = null;
    }
    if (BLANK.test(rest)) return;
    this.leafLine(rest, open);
  }

  /** An empty item, or a number that is not the first, does not end running text. */
  staysText(found) {
    const running = this.leaf instanceof Text && this.leaf.lazy;
    return running && (found[4] === '' || (found[3] && Number(found[3]) !== 1));
  }

  item(found, text, list) {
    const blanks = found[4].length > 4 ? 1 : found[4].length || 1;
    const indent = found[0].length - found[4].length + blanks;
    const node = this.place(el('li'), list);
    this.stack = [...this.stack, { node, list, indent, ordered: Boolean(found[3]) }];
    return text.slice(indent).replace(/^\[([ xX])\] /, (_, mark) => (mark === ' ' ? '☐ ' : '☑ '));
  }

  leafLine(text, open) {
    const fence = FENCE.exec(text);
    if (fence) {
      // While its language is being written there is no block to show yet.
      if (open && this.tried) return;
      this.leaf = new Code(fence[1].length, fence[2], fence[3]);
      this.place(this.leaf.node);
      return;
    }
    const heading = HEADING.exec(text);
    if (heading) {
      const level = heading[1].length;
      const node = this.place(el(`h${Math.min(6, level + 2)}`, { className: `level-${level}` }));
      this.leaf = this.fill(new Text(node), heading[2] ?? '');
      if (!open) this.leaf = null;
      return;
    }
    if (this.leaf?.table) {
      if (text.includes('|')) return this.row(text, 'td');
      this.leaf = null;
    }
    if (!open && this.leaf?.lazy && DELIMITER.test(text) && this.table(text)) return;
    this.textLine(text);
  }

  fill(leaf, text) {
    leaf.append(text);
    this.dirty.add(leaf);
    return leaf;
  }

  textLine(text) {
    if (this.leaf instanceof Text) {
      if (this.tried) this.leaf.tail += `\n${text.trimStart()}`;
      else this.leaf.append(`\n${text.trimStart()}`);
      this.dirty.add(this.leaf);
      return;
    }
    const leaf = new Text(this.place(el('p')));
    leaf.lazy = true;
    this.leaf = this.fill(leaf, text.trimStart());
  }

  /** The text's last line becomes the head of a table, if it has as many cells as this line. */
  table(text) {
    const at = this.leaf.tail.lastIndexOf('\n');
    const head = this.leaf.tail.slice(at + 1);
    const columns = cells(text).map((cell) => {
      const right = cell.endsWith(':');
      return cell.startsWith(':') ? (right ? 'center' : null) : right ? 'end' : null;
    });
    if (!head.includes('|') && !text.includes('|')) return false;
    if (cells(head).length !== columns.length || columns.length > COLUMNS_MAX) return false;
    if (at < 0 && this.leaf.kept === 0) this.leaf.node.remove();
    this.leaf.tail = this.leaf.tail.slice(0, Math.max(at, 0));
    this.dirty.add(this.leaf);
    const thead = el('thead');
    const table = el('tbody');
    const label = { tabIndex: 0, role: 'region', 'aria-label': 'Table', className: 'table' };
    this.place(el('div', label, el('table', {}, thead, table)));
    this.leaf = { table: thead, columns };
    this.row(head, 'th');
    this.leaf = { table, columns };
    return true;
  }

  row(text, tag) {
    const { table, columns } = this.leaf;
    const given = cells(text);
    const row = columns.map((align, i) => {
      const cell = el(tag, { className: align ?? '' });
      cell.append(inline((given[i] ?? '').slice(0, TAIL_MAX)));
      return cell;
    });
    this.place(el('tr', {}, ...row), table);
  }
}

/** Whether a line begins a block of its own. */
function starts(text) {
  return [QUOTE, RULE, FENCE, HEADING, ITEM].some((form) => form.test(text));
}

/** The cells of a line of a table. */
function cells(text) {
  const inner = text.trim().replace(/^\|/, '').replace(/(^|[^\\])\|$/, '$1');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}
