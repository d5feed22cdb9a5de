// What is painted, and what ops do to it. Pure: a view is never changed, parts that did not change
// are shared between the old one and the new one.

/** The view of a session of which nothing is known yet. */
export const EMPTY = Object.freeze({ revision: 0, rows: [], lifecycle: 'boot', state: {}, earlier: 0 });

/**
 * The view after some ops. `note(id, text)` is told of each row that changed: with the text that
 * was added at its end, or with `null` if it changed in another way or is new. Costs a copy of the
 * list of rows, and beyond that what the ops cost.
 */
export function applyOps(view, ops, note = () => {}) {
  if (ops.length === 0) return view;
  const next = { ...view, rows: view.rows.slice(), revision: view.revision + 1 };
  for (const op of ops) applyOp(next, op, note);
  return next;
}

function applyOp(view, op, note) {
  switch (op.op) {
    case 'push':
      view.rows.push(op.row);
      note(op.row.id, null);
      break;
    case 'grow':
      change(view, op.row_id, (row) => grown(row, op));
      note(op.row_id, op.item_id === undefined ? op.text : null);
      break;
    case 'update':
      change(view, op.row_id, (row) => updated(row, op));
      note(op.row_id, null);
      break;
    case 'patch':
      change(view, op.row_id, (row) => patched(row, op.set));
      note(op.row_id, null);
      break;
    case 'drop': {
      const gone = new Set(op.row_ids);
      view.rows = view.rows.filter((row) => !gone.has(row.id));
      view.earlier += op.row_ids.length;
      break;
    }
    case 'window':
      view.rows = op.rows.slice();
      view.earlier = op.earlier;
      for (const row of op.rows) note(row.id, null);
      break;
    case 'lifecycle':
      view.lifecycle = op.lifecycle;
      break;
    case 'state':
      view.state = patched(view.state, { [op.key]: op.value });
      break;
    default: // An op for a store, for a connection, or of a later version.
  }
}

/** Where the row is. Ids rise, and the newest row is the one that mostly changes. */
function place(rows, id) {
  let low = 0;
  let high = rows.length - 1;
  if (high >= 0 && rows[high].id === id) return high;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (rows[middle].id === id) return middle;
    if (rows[middle].id < id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

function change(view, id, how) {
  const at = place(view.rows, id);
  if (at >= 0) view.rows[at] = how(view.rows[at]);
}

function grown(row, op) {
  if (op.item_id === undefined) return { ...row, text: row.text + op.text };
  if (!row.card) return row;
  const items = row.card.items.map((item) =>
    item.id === op.item_id ? { ...item, detail: item.detail + op.text } : item,
  );
  return { ...row, card: { ...row.card, items } };
}

function updated(row, op) {
  const next = { ...row };
  if (op.text !== undefined) next.text = op.text;
  if (op.card && row.card) {
    const { changed = [], ...counts } = op.card;
    const items = row.card.items.slice();
    for (const item of changed) {
      const at = place(items, item.id);
      if (at >= 0) items[at] = item;
      else items.push(item);
    }
    next.card = { ...row.card, ...counts, items };
  }
  return next;
}

/** With these fields set; `null` removes one. */
function patched(object, set) {
  const next = { ...object };
  for (const [key, value] of Object.entries(set)) {
    if (value === null) delete next[key];
    else next[key] = value;
  }
  return next;
}
