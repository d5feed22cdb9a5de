// The page under load: nothing is lost, and the times between frames of the screen are reported.
// They depend on the machine, so nothing is asserted about them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { row, startFeed } from './feed.mjs';
import { openPage, startBrowser } from './harness.mjs';

const WORDS = ['The ', 'sea ', '**is** ', 'wide ', 'and `deep`', ', ', 'says ', 'one ', 'of _us_', '.\n', '- an ', 'item\n', '\n'];
const READY = { revision: 0, rows: [], lifecycle: 'busy', state: {}, earlier: 0 };

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser?.close());

/** Begins to note the times between frames of the screen; the answer ends it. */
async function watchFrames(page) {
  await page.evaluate(() => {
    const times = [];
    globalThis.frameTimes = times;
    let last = performance.now();
    const tick = (now) => {
      times.push(now - last);
      last = now;
      if (globalThis.frameTimes === times) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  return async () => {
    const times = await page.evaluate(() => {
      const done = globalThis.frameTimes;
      globalThis.frameTimes = null;
      return done.slice(1);
    });
    times.sort((a, b) => a - b);
    const at = (share) => `${times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1)} ms`;
    return `${times.length} frames: median ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, longest ${at(1)}`;
  };
}

/** Sends `rate` tokens a second for some seconds, in batches as a busy server makes them. */
async function pour(feed, id, seconds, rate, token) {
  let text = '';
  const began = performance.now();
  for (let sent = 0; sent < seconds * rate; ) {
    const due = Math.min(seconds * rate, Math.floor(((performance.now() - began) / 1000) * rate));
    const ops = [];
    const frames = [];
    let grown = '';
    for (; sent < due; sent += 1) {
      const word = token(sent);
      grown += word;
      const raw = `data: {"type":"text_delta","text":${JSON.stringify(word)}}\n\n`;
      frames.push({ n: sent + 1, dir: 'in', at: Date.now(), type: 'text_delta', bytes: raw.length, text: raw, rows: [id] });
    }
    if (grown) ops.push({ op: 'grow', row_id: id, text: grown });
    if (ops.length) feed.send(ops, frames);
    text += grown;
    await new Promise((resolve) => setTimeout(resolve, 8));
  }
  return text;
}

/** What the page has of a row, once it has painted it. */
async function shown(page, end) {
  await page.waitForFunction((words) => document.querySelector('.answer').textContent.trimEnd().endsWith(words), end);
  return page.locator('.answer').evaluate((node) => node.textContent.replace(/\s+/g, ' ').trim());
}

for (const [name, token, plain] of [
  ['markdown', (n) => WORDS[n % WORDS.length], (text) => text.replace(/[*`_]|^- /gm, '')],
  ['one line without an end', (n) => `${n} `, (text) => text],
]) {
  test(`2,000 tokens a second: ${name}`, async (t) => {
    const feed = await startFeed(READY);
    const tab = await openPage(browser, feed.url);
    feed.send([{ op: 'push', row: row(1, 'user', 'Go') }, { op: 'push', row: row(2, 'assistant', '') }]);
    const frames = await watchFrames(tab.page);
    const text = await pour(feed, 2, 6, 2000, token);
    t.diagnostic(`${name}: ${await frames()}`);
    feed.send([{ op: 'grow', row_id: 2, text: '\n\nthe end' }, { op: 'lifecycle', lifecycle: 'ready' }]);
    const words = (await shown(tab.page, 'the end')).replaceAll(' ', '');
    assert.ok(words === `${plain(text)}the end`.replace(/\s+/g, ''), 'every token is there');
    assert.deepEqual(tab.errors, []);
    await tab.close();
    await feed.stop();
  });
}

test('a row of 262,144 bytes goes on growing', async (t) => {
  const text = 'All that has been said so far, and more of it. '.repeat(6000).slice(0, 262_144 - 4000);
  const feed = await startFeed({ ...READY, rows: [row(1, 'user', 'Go'), row(2, 'assistant', text)] });
  const tab = await openPage(browser, feed.url);
  const frames = await watchFrames(tab.page);
  await pour(feed, 2, 2, 1000, () => 'x ');
  t.diagnostic(`a long row: ${await frames()}`);
  feed.send([{ op: 'grow', row_id: 2, text: 'the end' }]);
  assert.ok((await shown(tab.page, 'the end')).length > 262_000);
  await tab.close();
  await feed.stop();
});

test('2,048 rows scroll freely, and the reader stays where they are', async (t) => {
  const rows = Array.from({ length: 2048 }, (_, i) =>
    row(i + 1, i % 2 ? 'assistant' : 'user', i % 2 ? `Answer **${i}**\n\n- one\n- two\n\n\`\`\`\ncode ${i}\n\`\`\`` : `Question ${i}`),
  );
  const feed = await startFeed({ ...READY, rows });
  const tab = await openPage(browser, feed.url);
  const { page } = tab;
  await tab.log.getByText('code 2047').waitFor();
  const scroller = page.locator('[data-scroller]');
  const gap = () => scroller.evaluate((s) => Math.round(s.scrollHeight - s.scrollTop - s.clientHeight));
  assert.ok((await gap()) <= 1, 'it begins at the end');
  await page.mouse.move(500, 400);
  const frames = await watchFrames(page);
  for (let i = 0; i < 30; i += 1) {
    await page.mouse.wheel(0, -900);
    await new Promise((resolve) => setTimeout(resolve, 16));
  }
  t.diagnostic(`scrolling: ${await frames()}`);
  const jump = page.getByRole('button', { name: 'Jump to latest' });
  await jump.waitFor();
  const place = () => scroller.evaluate((s) => document.elementFromPoint(400, s.getBoundingClientRect().top + 100).closest('.row')?.dataset.id);
  const reading = await place();
  await pour(feed, 2048, 1, 500, () => 'more ');
  assert.equal(await place(), reading, 'what is added at the end moves nothing');
  await jump.click();
  await page.waitForFunction(() => {
    const s = document.querySelector('[data-scroller]');
    return s.scrollHeight - s.scrollTop - s.clientHeight <= 1;
  });
  feed.send([{ op: 'push', row: row(2049, 'system', 'Turn ended · model finished') }]);
  await tab.ends.waitFor();
  assert.ok((await gap()) <= 1, 'it follows the end again');
  await tab.close();
  await feed.stop();
});

test('Load earlier keeps the place of what was being read', async () => {
  const rows = Array.from({ length: 400 }, (_, i) => row(i + 1, i % 2 ? 'assistant' : 'user', `Words ${i + 513}`));
  const feed = await startFeed({ ...READY, lifecycle: 'ready', rows, earlier: 512 });
  const tab = await openPage(browser, feed.url);
  const { page } = tab;
  await page.locator('[data-scroller]').evaluate((s) => (s.scrollTop = 0));
  const asked = page.waitForRequest((request) => request.url().endsWith('/earlier') && request.method() === 'POST');
  await page.getByRole('button', { name: 'Load earlier' }).click();
  await asked;
  const before = await tab.log.getByText('Words 515', { exact: true }).boundingBox();
  const all = Array.from({ length: 912 }, (_, i) => ({ ...row(1000 + i, i % 2 ? 'assistant' : 'user', `Words ${i + 1}`), at: 1_764_536_400_000 + i - 511 }));
  feed.send([{ op: 'window', rows: all, earlier: 0, reason: 'earlier' }]);
  await tab.log.getByText('Words 1', { exact: true }).waitFor({ state: 'attached' });
  await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
  const after = await tab.log.getByText('Words 515', { exact: true }).boundingBox();
  assert.ok(Math.abs(after.y - before.y) < 60, `${before.y} and then ${after.y}`);
  assert.equal(await page.getByRole('button', { name: 'Load earlier' }).isVisible(), false);
  await tab.close();
  await feed.stop();
});
