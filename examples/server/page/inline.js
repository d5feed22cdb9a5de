// Markdown within a line: emphasis, code, links. Gives nodes; what is not understood stays text.
//
// One pass, and a stack of delimiters that may still open something, as the reference algorithm of
// CommonMark has it. Callers bound the length of a text; the stack bounds how deep nodes can nest.

const OPEN_MAX = 32;
const PUNCTUATION = /[!-/:-@[-`{-~\p{P}\p{S}]/u;
const ENTITY = /&(amp|lt|gt|quot|nbsp|#39);/y;
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0', '#39': "'" };
const DESTINATION =
  /\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)/y;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]*)>/iy;
const BARE = /https?:\/\/[^\s<>"`]+/iy;
const SPECIAL = /[\\`*_~[\]!<&\n]|https?:\/\//gi;

/** The address, if it is one that may be followed: of the web or of mail. */
export function safeAddress(text) {
  try {
    const url = new URL(text);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null; // Not absolute: there is nothing here that it could be relative to.
  }
}

/** The nodes of a text. */
export function inline(text) {
  return new Inline(text).run();
}

class Inline {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.root = document.createDocumentFragment();
    this.pending = '';
    this.delimiters = [];
    this.brackets = [];
    /** Lengths of runs of backticks for which no end was found. */
    this.unclosed = new Set();
  }

  run() {
    const { text } = this;
    while (this.at < text.length) {
      SPECIAL.lastIndex = this.at;
      const found = SPECIAL.exec(text);
      const end = found ? found.index : text.length;
      this.pending += text.slice(this.at, end);
      this.at = end;
      if (found) this.special(found[0]);
    }
    this.flush();
    return this.root;
  }

  special(mark) {
    switch (mark) {
      case '\\': return this.escape();
      case '`': return this.code();
      case '*': case '_': case '~': return this.delimiter(mark);
      case '[': return this.bracket(false);
      case '!': return this.text[this.at + 1] === '[' ? this.bracket(true) : this.literal(1);
      case ']': return this.link();
      case '<': return this.autolink();
      case '&': return this.entity();
      case '\n': return this.lineBreak();
      default: return this.bare();
    }
  }

  literal(length) {
    this.pending += this.text.slice(this.at, this.at + length);
    this.at += length;
  }

  flush() {
    if (this.pending) this.root.append(this.pending);
    this.pending = '';
  }

  push(node) {
    this.flush();
    this.root.append(node);
    return node;
  }

  escape() {
    const next = this.text[this.at + 1];
    if (next === '\n') {
      this.at += 1;
      return this.lineBreak();
    }
    if (next && /[!-/:-@[-`{-~]/.test(next)) this.at += 1;
    this.literal(1);
  }

  lineBreak() {
    this.pending = this.pending.trimEnd();
    this.push(document.createElement('br'));
    this.at += 1;
  }

  runLength(mark) {
    let end = this.at;
    while (this.text[end] === mark) end += 1;
    return end - this.at;
  }

  code() {
    const length = this.runLength('`');
    const end = this.unclosed.has(length) ? -1 : this.closing(length);
    if (end < 0) {
      this.unclosed.add(length);
      return this.literal(length);
    }
    let body = this.text.slice(this.at + length, end).replaceAll('\n', ' ');
    if (/^ .*\S.* $/.test(body)) body = body.slice(1, -1);
    const node = document.createElement('code');
    node.textContent = body;
    this.push(node);
    this.at = end + length;
  }

  /** Where a run of exactly `length` backticks begins, after the one here. */
  closing(length) {
    const runs = /`+/g;
    runs.lastIndex = this.at + length;
    for (let run = runs.exec(this.text); run; run = runs.exec(this.text)) {
      if (run[0].length === length) return run.index;
    }
    return -1;
  }

  delimiter(mark) {
    const count = this.runLength(mark);
    const before = this.text[this.at - 1] ?? ' ';
    const after = this.text[this.at + count] ?? ' ';
    if (mark === '~' && count !== 2) return this.literal(count);
    const blank = (c) => /\s/.test(c);
    const left = !blank(after) && (!PUNCTUATION.test(after) || blank(before) || PUNCTUATION.test(before));
    const right = !blank(before) && (!PUNCTUATION.test(before) || blank(after) || PUNCTUATION.test(after));
    const within = mark === '_';
    const opens = left && (!within || !right || PUNCTUATION.test(before));
    const closes = right && (!within || !left || PUNCTUATION.test(after));
    const node = this.push(document.createTextNode(mark.repeat(count)));
    this.at += count;
    if (closes) this.close({ mark, count, opens, closes, node });
    else if (opens) this.open({ mark, count, opens, closes, node });
  }

  open(delimiter) {
    this.delimiters.push(delimiter);
    if (this.delimiters.length > OPEN_MAX) this.delimiters.shift();
  }

  /** Closes what the delimiter can close; what is left of it may open something. */
  close(closer) {
    for (let i = this.delimiters.length - 1; i >= 0 && closer.count > 0; i -= 1) {
      const opener = this.delimiters[i];
      if (opener.mark !== closer.mark) continue;
      const both = opener.closes || closer.opens;
      const total = opener.total ?? opener.count;
      if (both && (total + closer.count) % 3 === 0 && (total % 3 || closer.count % 3)) continue;
      this.delimiters.length = i + 1;
      const used = opener.count >= 2 && closer.count >= 2 ? 2 : 1;
      wrap(opener, closer, used);
      if (opener.count === 0) this.delimiters.pop();
      else i += 1;
    }
    if (closer.count > 0 && closer.opens) this.open(closer);
  }

  bracket(image) {
    const mark = image ? '![' : '[';
    const node = this.push(document.createTextNode(mark));
    this.at += mark.length;
    this.brackets.push(node);
    if (this.brackets.length > OPEN_MAX) this.brackets.shift();
  }

  link() {
    const bracket = this.brackets.pop();
    DESTINATION.lastIndex = this.at + 1;
    // One that emphasis has taken in opens nothing any more.
    const opens = bracket?.parentNode === this.root;
    const found = opens && DESTINATION.exec(this.text);
    const address = found && safeAddress(found[1] ?? found[2]);
    if (!address) {
      // A link that must not be followed is shown in full, as the text that it is.
      return this.literal(found ? 1 + found[0].length : 1);
    }
    this.flush();
    const node = anchor(address);
    while (bracket.nextSibling) node.append(bracket.nextSibling);
    if (!node.textContent) node.textContent = address;
    bracket.replaceWith(node);
    // Emphasis does not reach out of a link, and there are no links within links.
    this.delimiters = this.delimiters.filter((d) => d.node.parentNode === this.root);
    this.brackets.length = 0;
    this.at += 1 + found[0].length;
  }

  autolink() {
    AUTOLINK.lastIndex = this.at;
    const found = AUTOLINK.exec(this.text);
    const address = found && safeAddress(found[1]);
    if (!address) return this.literal(1);
    this.push(anchor(address)).textContent = found[1];
    this.at += found[0].length;
  }

  bare() {
    BARE.lastIndex = this.at;
    const found = BARE.exec(this.text);
    let shown = found ? found[0].replace(/[.,;:!?*_~'\]]+$/, '') : '';
    while (shown.endsWith(')') && shown.split(')').length > shown.split('(').length) {
      shown = shown.slice(0, -1);
    }
    const before = this.text[this.at - 1] ?? ' ';
    const address = /[\p{L}\p{N}]/u.test(before) || this.brackets.length ? null : safeAddress(shown);
    if (!address) return this.literal(4);
    this.push(anchor(address)).textContent = shown;
    this.at += shown.length;
  }

  entity() {
    ENTITY.lastIndex = this.at;
    const found = ENTITY.exec(this.text);
    if (!found) return this.literal(1);
    this.pending += ENTITIES[found[1]];
    this.at += found[0].length;
  }
}

function anchor(address) {
  const node = document.createElement('a');
  node.href = address;
  node.rel = 'noopener noreferrer nofollow';
  node.target = '_blank';
  return node;
}

const TAGS = { '~': ['s', 's'], '*': ['em', 'strong'], _: ['em', 'strong'] };

/** Puts what is between two delimiters into an element, and takes their marks away. */
function wrap(opener, closer, used) {
  const node = document.createElement(TAGS[opener.mark][used - 1]);
  while (opener.node.nextSibling !== closer.node) node.append(opener.node.nextSibling);
  opener.node.after(node);
  opener.total ??= opener.count;
  for (const side of [opener, closer]) {
    side.count -= used;
    side.node.data = side.mark.repeat(side.count);
  }
}
