// The pane that shows the wire.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newSession, openPage, startBrowser, startServer } from './harness.mjs';

let server;
let browser;
let tab;
let wire;
let lines;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
  tab = await openPage(browser, await newSession(server.url));
  wire = tab.page.getByRole('complementary', { name: 'Wire' });
  lines = wire.getByRole('option');
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const count = async () => Number(/^([\d,]+) frame/.exec(await wire.getByText(/^[\d,]+ frames? ·/).textContent())[1].replace(',', ''));
const types = () => wire.locator('.frame .type').allTextContents();

test('shows each frame with time, type and size', async () => {
  assert.ok(await wire.getByText('Nothing has passed yet.').isVisible());
  await tab.say('list .');
  assert.equal(await lines.first().textContent().then((text) => /^\d\d:\d\d:\d\d\.\d{3}/.test(text)), true);
  const list = wire.getByRole('listbox');
  await list.evaluate((node) => (node.scrollTop = 0));
  await lines.getByText('request', { exact: true }).waitFor();
  assert.match(await lines.filter({ hasText: 'request' }).locator('.size').textContent(), /^\d+ B$/);
  assert.match((await lines.filter({ hasText: 'request' }).textContent()), /POST \/api\/agent/);
});

test('a frame opens in full', async () => {
  await wire.getByRole('searchbox', { name: 'Filter frames' }).fill('tool_result');
  assert.deepEqual(await types(), ['tool_result']);
  await lines.first().click();
  const raw = wire.getByRole('region', { name: 'Raw frame' });
  assert.match(await raw.textContent(), /^data: \{"type":"tool_result","name":"list_dir","ok":true,/);
  await wire.getByRole('button', { name: 'Close' }).click();
  assert.equal(await raw.isVisible(), false);
  await wire.getByRole('searchbox').fill('');
});

test('choosing a row marks the frames that made it, and choosing it again does not', async () => {
  await tab.log.getByText('list .', { exact: true }).click();
  assert.ok(await wire.getByText('1 frame made this row').isVisible());
  assert.deepEqual(await wire.locator('.frame.marked .type').allTextContents(), ['request']);
  await tab.log.locator('.card').hover();
  await tab.log.locator('.card').getByRole('button', { name: 'Frames' }).click();
  assert.ok(await wire.getByText('2 frames made this row').isVisible());
  assert.deepEqual(await wire.locator('.frame.marked .type').allTextContents(), ['tool_start', 'tool_result']);
  await wire.getByRole('button', { name: 'Clear' }).click();
  assert.equal(await wire.locator('.frame.marked').count(), 0);
});

test('pauses, and goes on with what came meanwhile', async () => {
  const before = await count();
  const shown = await types();
  await wire.getByRole('button', { name: 'Pause' }).click();
  await tab.say('say one');
  assert.deepEqual(await types(), shown);
  await wire.getByRole('button', { name: 'Resume' }).click();
  await wire.getByText(`${before + 3} frames`).waitFor();
  assert.equal((await types()).at(-1), 'done');
});

test('keeps no more than its bound, and a reload keeps the last frames', async () => {
  await tab.say('count to 6000');
  await wire.getByText(/^6,\d+ frames/).waitFor();
  const height = await wire.locator('.wire-room').evaluate((room) => room.offsetHeight);
  assert.equal(height, 2000 * 28);
  assert.ok((await lines.count()) < 80);
  await tab.page.reload();
  await tab.live();
  await lines.first().waitFor();
  assert.equal((await types()).at(-1), 'done');
  assert.deepEqual(tab.errors, []);
});
