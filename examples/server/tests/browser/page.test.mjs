// The page as people use it, against the real server.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { newSession, openPage, startBrowser, startServer } from './harness.mjs';

const FINISHED = 'Note: Turn ended · model finished';

let server;
let browser;
let address;
let tab;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});
beforeEach(async () => {
  address = await newSession(server.url);
  tab = await openPage(browser, address);
});
afterEach(async () => {
  const { errors } = tab;
  await tab.close();
  assert.deepEqual(errors, [], 'nothing red in the console');
});

describe('a conversation', () => {
  test('begins with what one can type, and an example can be clicked', async () => {
    assert.ok(await tab.page.getByRole('heading', { name: 'What should the agent do?' }).isVisible());
    assert.equal(await tab.send.isDisabled(), true);
    await tab.page.getByRole('button', { name: /^See it think/ }).click();
    await tab.ends.waitFor();
    assert.deepEqual(await tab.rows(), [
      'You: think about streams',
      'Thinking: Thinking',
      'Assistant: I have thought about streams.',
      FINISHED,
    ]);
    assert.equal(await tab.page.getByRole('heading', { name: 'What should the agent do?' }).isVisible(), false);
  });

  test('starts in the newest session, whose address a second tab can join', async () => {
    await tab.say('say one');
    const other = await openPage(browser, server.url);
    assert.equal(other.page.url(), address);
    assert.deepEqual(await other.rows(), await tab.rows());
    await other.say('say two');
    await tab.ends.nth(1).waitFor();
    assert.deepEqual(await tab.rows(), ['You: say one', 'Assistant: one', FINISHED, 'You: say two', 'Assistant: two', FINISHED]);
    assert.deepEqual(await other.rows(), await tab.rows());
    await tab.begin('wait 1 seconds');
    await other.stop.waitFor();
    assert.deepEqual(other.errors, []);
    await other.close();
  });

  test('keeps a line break of Shift+Enter, and no prompt of blanks is sent', async () => {
    await tab.prompt.press('Enter');
    await tab.prompt.pressSequentially('say a');
    await tab.prompt.press('Shift+Enter');
    await tab.prompt.pressSequentially('b');
    await tab.prompt.press('Enter');
    await tab.ends.waitFor();
    assert.deepEqual(await tab.rows(), ['You: say a\nb', 'Assistant: ab', FINISHED]);
    assert.equal(await tab.log.locator('.answer br').count(), 1);
  });

  test('shows where the agent works', async () => {
    await tab.say('cd src');
    assert.equal(await tab.page.getByTitle('Working folder').textContent(), 'workspace/src');
  });

  test('says how a turn failed', async () => {
    await tab.say('fail');
    const rows = await tab.rows();
    assert.match(rows.at(-1), /^Error: Turn ended · error · The built-in model was told to fail\.$/);
  });
});

describe('a card', () => {
  test('grows while tools run, and opens in two levels', async () => {
    await tab.begin('list ., then wait 1 seconds, then read README.md, then read nowhere.md');
    const head = tab.log.getByRole('button', { name: /tools? called/ });
    await head.getByText('1 tool called').waitFor();
    assert.equal(await head.getAttribute('aria-expanded'), 'false');
    await head.click();
    await head.getByText('3 tools called').waitFor();
    await tab.ends.waitFor();
    assert.deepEqual(await head.locator('.chip:visible [aria-hidden]').allTextContents(), ['✓ 2', '✗ 1']);
    const calls = tab.log.locator('.calls > li');
    assert.equal(await calls.count(), 3);
    const read = calls.nth(1).getByRole('button');
    assert.equal(await calls.nth(1).getByRole('region').isVisible(), false);
    await read.click();
    assert.match(await calls.nth(1).getByRole('region').textContent(), /^read_file README\.md.*A small sample project/s);
    await head.click();
    assert.equal(await calls.first().isVisible(), false);
  });
});

describe('thinking', () => {
  test('is open while the turn runs, then one line that opens again', async () => {
    await tab.begin('think about streams, then wait 2 seconds');
    const fold = tab.log.getByRole('button', { name: /^Thinking/ });
    const body = tab.log.locator('.thought');
    await body.waitFor();
    assert.equal(await fold.getAttribute('aria-expanded'), 'true');
    await tab.ends.waitFor();
    assert.equal(await fold.getAttribute('aria-expanded'), 'false');
    assert.equal(await body.isVisible(), false);
    assert.match(await fold.textContent(), /^ThinkingLet me think about streams/);
    await fold.click();
    assert.equal(await body.isVisible(), true);
    assert.ok(await tab.log.locator('.thinking').getByRole('button', { name: 'Copy' }).isVisible());
  });
});

describe('a turn that runs', () => {
  test('can be stopped', async () => {
    await tab.begin('say before, then wait 30 seconds');
    await tab.stop.click();
    await tab.ends.waitFor();
    assert.deepEqual((await tab.rows()).slice(-1), ['Note: Turn ended · you stopped']);
    await tab.say('say after');
    assert.deepEqual((await tab.rows()).slice(-2), ['Assistant: after', FINISHED]);
  });

  test('survives a reload', async () => {
    await tab.begin('think about reloads, then wait 2 seconds, then list .');
    await tab.log.locator('.thought').waitFor();
    await tab.page.reload();
    await tab.live();
    assert.equal(await tab.page.locator('html').getAttribute('data-state'), 'busy');
    await tab.ends.waitFor();
    const reloaded = await tab.rows();
    assert.equal(reloaded[0], 'You: think about reloads, then wait 2 seconds, then list .');
    assert.equal(reloaded.filter((row) => row === 'Thinking: Thinking').length, 2);
    assert.ok(reloaded.some((row) => row.includes('1 tool called')));
    assert.equal(reloaded.at(-1), FINISHED);
  });

  test('goes on without a connection, and nothing is missing afterwards', async () => {
    await tab.begin('say first, then wait 2 seconds, then list .');
    await tab.stop.waitFor();
    await tab.context.setOffline(true);
    await tab.page.getByRole('status').getByText('Reconnecting').waitFor();
    assert.ok(await tab.page.getByText('nothing is lost meanwhile').isVisible());
    await tab.prompt.fill('say kept');
    await new Promise((resolve) => setTimeout(resolve, 2500));
    assert.equal(await tab.ends.count(), 0);
    await tab.context.setOffline(false);
    await tab.ends.waitFor();
    const late = await openPage(browser, address);
    assert.deepEqual(await tab.rows(), await late.rows());
    assert.equal(await tab.prompt.inputValue(), 'say kept');
    await late.close();
    // The browser itself reports each connection that it could not make.
    tab.errors = tab.errors.filter((text) => !text.includes('ERR_INTERNET_DISCONNECTED'));
  });
});

describe('what a model wrote', () => {
  test('is text where it is not harmless', async () => {
    await tab.page.evaluate(() => (globalThis.alert = () => (globalThis.harmed = true)));
    const hostile = '<script>alert(1)</script> <img src=x onerror=alert(1)> [go](javascript:alert(1)) [go](JAVA\tSCRIPT:alert(1)) [go](data:text/html,x) [ok](https://example.org/)';
    await tab.say(`say ${hostile}`);
    const answer = tab.log.locator('.answer');
    const text = await answer.textContent();
    for (const part of ['<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '[go](javascript:alert(1))', '[go](data:text/html,x)']) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
    assert.deepEqual(await answer.locator('a').evaluateAll((links) => links.map((a) => a.href)), ['https://example.org/']);
    assert.equal(await answer.locator('script, img, iframe').count(), 0);
    assert.equal(await tab.page.evaluate(() => globalThis.harmed), undefined);
  });

  test('cannot load or run anything, whatever the page did with it', async () => {
    const answer = await fetch(address);
    const policy = answer.headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    const hosts = await tab.page.evaluate(() => performance.getEntriesByType('resource').map((r) => new URL(r.name).host));
    assert.ok(hosts.length > 10);
    assert.deepEqual([...new Set(hosts)], [new URL(address).host]);
  });
});

describe('an answer that ends in the middle of a line', () => {
  test('is shown to its end', async () => {
    for (const text of ['42', '1.', '---', 'a|b\n-|-', '`']) {
      await tab.say(`say ${text}`);
      const answer = tab.log.locator('.answer').last();
      assert.ok(await answer.evaluate((node) => node.offsetHeight > 0), text);
      // A rule and an empty item are what they look like.
      if (!/^(---|1\.)$/.test(text)) assert.equal((await answer.innerText()).replaceAll('\n', ''), text.replaceAll('\n', ''));
    }
  });
});

describe('the keyboard alone', () => {
  test('reaches everything', async () => {
    const { keyboard } = tab.page;
    const focused = () => tab.page.evaluate(() => document.activeElement.textContent.trim() || document.activeElement.getAttribute('aria-label') || document.activeElement.id);
    await keyboard.type('read README.md');
    await keyboard.press('Enter');
    await tab.ends.waitFor();
    assert.equal(await focused(), 'prompt');
    const reach = async (name, key) => {
      for (let i = 0; i < 40; i += 1) {
        if (name.test(await focused())) return;
        await keyboard.press(key);
      }
      assert.fail(`${name} cannot be reached`);
    };
    await reach(/tool called/, 'Shift+Tab');
    await keyboard.press('Enter');
    await reach(/^✓.*read_file/, 'Tab');
    await keyboard.press('Space');
    assert.ok(await tab.log.getByRole('region', { name: 'What read_file gave' }).isVisible());
    await reach(/^Thinking/, 'Shift+Tab');
    await keyboard.press('Space');
    assert.ok(await tab.log.locator('.thought').isVisible());
    await reach(/^Frames$/, 'Tab');
    await keyboard.press('Enter');
    assert.ok(await tab.page.getByText(/frames made this row/).isVisible());
    await reach(/^prompt$/, 'Tab');
    await keyboard.type('wait 30 seconds');
    await keyboard.press('Enter');
    await tab.stop.waitFor();
    await reach(/^Stop$/, 'Tab');
    await keyboard.press('Space');
    await tab.ends.nth(1).waitFor();
    await reach(/^Frames on the wire/, 'Tab').catch(() => reach(/text_delta/, 'Tab'));
    await keyboard.press('End');
    await keyboard.press('ArrowUp');
    assert.ok(await tab.page.getByRole('region', { name: 'Raw frame' }).isVisible());
  });
});
