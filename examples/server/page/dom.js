// Building nodes. Content only ever becomes text nodes: nothing here parses HTML.

/** An element with properties, attributes (`aria-…`, `data-…`, `role`) and children. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name in node && !name.includes('-')) node[name] = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children);
  return node;
}

/** Words for screen readers only. */
export const unseen = (text) => el('span', { className: 'unseen' }, text);

/** Shows or hides, and writes nothing if that is how it is already. */
export function show(node, wanted) {
  if (node.hidden === wanted) node.hidden = !wanted;
}

/** Sets text, and writes nothing if it is there already. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A button that opens and closes `body`. `fill` is called before each opening. */
export function expander(button, body, open, fill) {
  const set = (wanted) => {
    if (wanted) fill?.();
    button.setAttribute('aria-expanded', String(wanted));
    body.hidden = !wanted;
  };
  button.setAttribute('aria-expanded', 'false');
  body.hidden = true;
  button.addEventListener('click', () => {
    set(body.hidden);
    // A chosen state holds against what the stream says later.
    button.dataset.chosen = '';
  });
  if (open) set(true);
  return set;
}

/** A button that copies what `text` gives, and says so for a moment. */
export function copier(text, label = 'Copy') {
  const button = el('button', { type: 'button', className: 'quiet copy' }, label);
  let timer;
  button.addEventListener('click', async () => {
    const done = await copy(text());
    button.textContent = done ? 'Copied' : 'Not copied';
    clearTimeout(timer);
    timer = setTimeout(() => (button.textContent = label), 1600);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard outside of secure contexts; a selection can be copied everywhere.
    const area = el('textarea', { className: 'unseen', readOnly: true, value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

const SIZES = ['B', 'KB', 'MB', 'GB'];

/** A size for people. */
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < SIZES.length - 1; unit += 1) value /= 1000;
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${SIZES[unit]}`;
}

/** A time of day, with milliseconds if asked for. */
export function clock(ms, precise = false) {
  const date = new Date(ms);
  const two = (n) => String(n).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (!precise) return time;
  return `${time}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
