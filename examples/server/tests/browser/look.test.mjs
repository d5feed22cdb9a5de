// How the page looks and reads: screenshots for people, and axe-core for what it can judge.

import assert from 'node:assert/strict';
import { readFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { SHOTS, newSession, openPage, startBrowser, startServer } from './harness.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const MARKDOWN = `say ## What the cities have in common

Each of them lies **by the sea**, and each has an \`Olá\` of its own: see [the list](https://example.org/cities).

| City | Country | Ferries |
|---|---|--:|
| Lisbon | Portugal | 12 |
| Oslo | Norway | 31 |

1. Read the table
2. Greet whoever is there
   - in their own words

\`\`\`python
def greet(name):
    return f"Olá, {name}"
\`\`\`

> The sea, the sea.`;

let server;
let browser;

before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Findings of axe-core that keep somebody out. */
async function serious(page) {
  // What comes from the server could not do this: the page's policy forbids it.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html.slice(0, 120)} ${node.failureSummary}`).join(' | ')}`);
}

for (const colorScheme of ['light', 'dark']) {
  for (const [name, options] of Object.entries({
    wide: { viewport: { width: 1440, height: 900 } },
    phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  })) {
    test(`${name}, ${colorScheme}`, async () => {
      const tab = await openPage(browser, await newSession(server.url), { colorScheme, ...options });
      const { page } = tab;
      const look = async (what) => {
        const file = path.join(SHOTS, `${name}-${colorScheme}-${what}.png`);
        // Transitions, not what moves for ever; one that is cut short is over, too.
        await page.evaluate(() => {
          const once = document.getAnimations().filter((a) => a.effect.getTiming().iterations === 1);
          return Promise.allSettled(once.map((a) => a.finished)).then(() => {});
        });
        await page.screenshot({ path: file });
        assert.deepEqual(await serious(page), [], what);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wider <= 0, `${what} is ${wider} px wider than the screen`);
      };
      await look('empty');
      await tab.say('list ., then read README.md, then read nowhere.md, then find Lisbon');
      await tab.say(MARKDOWN);
      await look('answer');
      await page.locator('[data-scroller]').evaluate((scroller) => (scroller.scrollTop = 0));
      await tab.log.getByRole('button', { name: /tools called/ }).click();
      await tab.log.locator('.calls').getByRole('button').first().click();
      await tab.log.getByRole('button', { name: /^Thinking/ }).click();
      await look('card');
      await tab.log.locator('.card').getByRole('button', { name: 'Frames' }).focus();
      await page.keyboard.press('Enter');
      await look('wire');
      const wire = page.getByRole('complementary', { name: 'Wire' });
      assert.ok(await wire.getByText('8 frames made this row').isVisible());
      if (name === 'phone') await page.keyboard.press('Escape');
      await tab.begin('say It will not work., then wait 30 seconds');
      await tab.stop.waitFor();
      await look('busy');
      await tab.stop.click();
      await tab.say('fail');
      await look('failed');
      assert.deepEqual(tab.errors, []);
      await tab.close();
    });
  }
}
