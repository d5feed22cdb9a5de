// `view.js` in Node, against the real server: the ops from the start on give the view of a page
// that comes late.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EMPTY, applyOps } from '../../page/view.js';
import { newSession, startServer } from './harness.mjs';

let server;
before(async () => (server = await startServer()));
after(() => server?.stop());

/** The messages of a session's stream. */
async function* messages(address, signal) {
  const base = address.replace('/?session=', '/page/sessions/');
  const answer = await fetch(`${base}/ops`, { signal });
  let text = '';
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop();
    for (const part of parts) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part);
      yield { event, data: JSON.parse(data) };
    }
  }
}

async function firstView(address) {
  const stop = new AbortController();
  for await (const { data } of messages(address, stop.signal)) {
    stop.abort();
    return data;
  }
}

test('ops applied give the view, and tell which rows only grew', async () => {
  const address = await newSession(server.url);
  const prompts = ['list ., then read README.md, then read nowhere.md', 'think about ops, then say a b c', 'count to 3000', 'fail', 'cd src', ' '];
  const stop = new AbortController();
  const frames = [];
  const grown = new Map();
  let view;
  let next = 0;
  for await (const { event, data } of messages(address, stop.signal)) {
    if (event === 'view') {
      view = data.view;
    } else {
      const before = view;
      const copy = structuredClone(before);
      view = { ...applyOps(view, data.ops, (id, text) => note(grown, id, text)), revision: data.revision };
      assert.deepEqual(before, copy, 'the old view is as it was');
      frames.push(...data.frames);
    }
    if (view.lifecycle !== 'ready') continue;
    if (next === prompts.length) break;
    const body = JSON.stringify({ text: prompts[next], client_id: `c${next}` });
    next += 1;
    const base = address.replace('/?session=', '/page/sessions/');
    const answer = await fetch(`${base}/prompt`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    assert.equal(answer.status, 202);
  }
  stop.abort();
  const late = await firstView(address);
  assert.deepEqual(view, late.view);
  assert.equal(late.frames.at(-1).n, frames.at(-1).n);
  const counted = view.rows.find((row) => row.text.includes(' 2999 3000'));
  const pieces = grown.get(counted.id);
  assert.ok(pieces.length > 10_000 && counted.text.endsWith(pieces), 'what was noted is the end of the text');
  assert.deepEqual(frames.map((frame) => frame.n), frames.map((_, i) => i + 1));
  assert.ok(frames.some((frame) => frame.type === 'text_delta' && frame.rows.includes(counted.id)));
});

/** A row's text as a painter would gather it. */
function note(grown, id, text) {
  if (text !== null) grown.set(id, (grown.get(id) ?? '') + text);
}

test('what it does not know changes nothing', () => {
  const view = { ...EMPTY, rows: [{ id: 3, text: 'a' }] };
  const next = applyOps(view, [{ op: 'later' }, { op: 'grow', row_id: 9, text: 'x' }, { op: 'update', row_id: 3, card: {} }]);
  assert.deepEqual(next, { ...view, revision: 1 });
  assert.equal(applyOps(view, []), view);
});

test('a window replaces, a drop counts, null removes', () => {
  const row = (id) => ({ id, text: String(id), status: 'open' });
  let view = applyOps(EMPTY, [{ op: 'window', rows: [row(5), row(6), row(7)], earlier: 2, reason: 'earlier' }]);
  view = applyOps(view, [{ op: 'drop', row_ids: [5] }, { op: 'push', row: row(8) }, { op: 'patch', row_id: 7, set: { status: null, text: 'x' } }, { op: 'state', key: 'cwd', value: 'src' }]);
  assert.deepEqual(view.rows, [row(6), { id: 7, text: 'x' }, row(8)]);
  assert.deepEqual([view.earlier, view.state, view.revision], [3, { cwd: 'src' }, 2]);
  assert.deepEqual(applyOps(view, [{ op: 'state', key: 'cwd', value: null }]).state, {});
});
