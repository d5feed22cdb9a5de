// Markdown as the page paints it: what it gives, and that it gives the same however it streams.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { row, startFeed } from './feed.mjs';
import { openPage, startBrowser } from './harness.mjs';

let browser;
let feed;
let page;

before(async () => {
  browser = await startBrowser();
  feed = await startFeed({ revision: 0, rows: [row(1, 'user', 'Go')], lifecycle: 'ready', state: {}, earlier: 0 });
  ({ page } = await openPage(browser, feed.url));
});
after(async () => {
  await browser?.close();
  await feed?.stop();
});

/** The HTML of each text, given in pieces of `length` characters. */
function html(texts, length = Infinity) {
  return page.evaluate(
    async ([texts, length]) => {
      const { Markdown } = await import('/page/markdown.js');
      return texts.map((text) => {
        const root = document.createElement('div');
        const markdown = new Markdown(root);
        const step = Math.min(length ?? text.length, text.length) || 1;
        for (let i = 0; i < text.length; i += step) markdown.append(text.slice(i, i + step));
        for (const extra of root.querySelectorAll('button, .code-head')) extra.remove();
        // Neighbouring text nodes are one text.
        root.normalize();
        return root.innerHTML.replace(/ (?:class|rel|target|tabindex|role|aria-label)="[^"]*"/g, '').replace(/<\/?(?:div|span)>/g, '');
      });
    },
    [texts, length],
  );
}

const CASES = [
  ['', ''],
  ['a', '<p>a</p>'],
  ['a\nb\n\nc', '<p>a<br>b</p><p>c</p>'],
  ['# One\n## Two ##\ntext', '<h3>One</h3><h4>Two</h4><p>text</p>'],
  ['#no', '<p>#no</p>'],
  ['*a* **b** ***c*** _d_ __e__ ~~f~~', '<p><em>a</em> <strong>b</strong> <em><strong>c</strong></em> <em>d</em> <strong>e</strong> <s>f</s></p>'],
  ['snake_case_name 2*3*4 a * b *', '<p>snake_case_name 2<em>3</em>4 a * b *</p>'],
  ['**a *b* c** *open', '<p><strong>a <em>b</em> c</strong> *open</p>'],
  ['`a*b*` ``c`d`` `open', '<p><code>a*b*</code> <code>c`d</code> `open</p>'],
  ['\\*a\\* &lt;b&gt; &amp;amp; &bogus;', '<p>*a* &lt;b&gt; &amp;amp; &amp;bogus;</p>'],
  ['[a *b*](https://x.org/y "t") [c](http://x.org/(d))', '<p><a href="https://x.org/y">a <em>b</em></a> <a href="http://x.org/(d)">c</a></p>'],
  ['[a](mailto:a@b.c) <https://x.org/> https://x.org/a_b_c, (https://x.org/d).', '<p><a href="mailto:a@b.c">a</a> <a href="https://x.org/">https://x.org/</a> <a href="https://x.org/a_b_c">https://x.org/a_b_c</a>, (<a href="https://x.org/d">https://x.org/d</a>).</p>'],
  ['[a](javascript:x) [b](/c) [d](data:,e) ![f](https://x.org/g.png)', '<p>[a](javascript:x) [b](/c) [d](data:,e) <a href="https://x.org/g.png">f</a></p>'],
  ['<b>no</b> <!-- no --> <script>no</script>', '<p>&lt;b&gt;no&lt;/b&gt; &lt;!-- no --&gt; &lt;script&gt;no&lt;/script&gt;</p>'],
  ['- a\n- b\n  - c\n\n  d\n- e', '<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul><p>d</p></li><li><p>e</p></li></ul>'],
  ['3. a\n4. b\n\ntext', '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol><p>text</p>'],
  ['- [ ] a\n- [x] b', '<ul><li><p>☐ a</p></li><li><p>☑ b</p></li></ul>'],
  ['in 1999\n2. is no list\n- but this is', '<p>in 1999<br>2. is no list</p><ul><li><p>but this is</p></li></ul>'],
  ['> a\n> > b\nlazy\n\nc', '<blockquote><p>a</p><blockquote><p>b<br>lazy</p></blockquote></blockquote><p>c</p>'],
  ['a\n***\nb\n- - -', '<p>a</p><hr><p>b</p><hr>'],
  ['```js\nlet a = `b`;\n\n  c\n```\nd', '<pre><code>let a = `b`;\n\n  c\n</code></pre><p>d</p>'],
  ['~~~\n```\n~~~~\n> ```\n> x\n> ```\ny', '<pre><code>```\n</code></pre><blockquote><pre><code>x\n</code></pre></blockquote><p>y</p>'],
  ['- a\n  ```\n  b\n  ```\n- c', '<ul><li><p>a</p><pre><code>b\n</code></pre></li><li><p>c</p></li></ul>'],
  ['| a | b |\n|:-:|--:|\n| *c* | d \\| e |\n| f |\n\ng', '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><em>c</em></td><td>d | e</td></tr><tr><td>f</td><td></td></tr></tbody></table><p>g</p>'],
  ['a | b\n--- | ---\nc | d\ne', '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>c</td><td>d</td></tr></tbody></table><p>e</p>'],
  ['a\r\n\r\n- b\r\n', '<p>a</p><ul><li><p>b</p></li></ul>'],
];

test('what it gives', async () => {
  const given = await html(CASES.map(([text]) => `${text}\n`));
  for (const [i, [text, wanted]] of CASES.entries()) assert.equal(given[i], wanted, JSON.stringify(text));
});

const LONG = [
  `${'word *em* and `code` '.repeat(900)}\n\nafter`,
  `\`\`\`\n${'x'.repeat(40_000)}\n${'line of code\n'.repeat(2000)}\`\`\`\nafter`,
  `- ${'item '.repeat(3000)}\n- next`,
  `${'a very long line without an end '.repeat(700)}`,
  `# ${'heading '.repeat(200)}\nafter`,
  `> ${'quoted '.repeat(400)}\n> more\n\nafter`,
];

test('it gives the same in whatever pieces it comes', async () => {
  const texts = [...CASES.map(([text]) => `${text}\n`), CASES.map(([text]) => text).join('\n\n')];
  const whole = await html(texts);
  for (const length of [1, 2, 3, 7, 50]) assert.deepEqual(await html(texts, length), whole, `${length} at a time`);
  const long = await html(LONG);
  for (const length of [13, 511, 5000]) {
    const pieces = await html(LONG, length);
    for (const [i, text] of LONG.entries()) assert.ok(pieces[i] === long[i], `${text.slice(0, 30)}…, ${length} at a time`);
  }
});

test('nothing is lost of a long text', async () => {
  const texts = await page.evaluate(async (long) => {
    const { Markdown } = await import('/page/markdown.js');
    return long.map((text) => {
      const root = document.createElement('div');
      new Markdown(root).append(text);
      return root.textContent.replace(/[\s*`#>]|^textCopy/g, '');
    });
  }, LONG);
  for (const [i, text] of LONG.entries()) {
    assert.ok(texts[i].replace('textCopy', '') === text.replace(/^- /gm, '').replace(/[\s*`#>]/g, ''), text.slice(0, 30));
  }
});

test('hostile text costs what other text costs', async () => {
  const hostile = ['*'.repeat(50_000), '*a '.repeat(20_000), '['.repeat(50_000), '`'.repeat(50_000), '`a``b'.repeat(10_000), '> '.repeat(20_000), '- '.repeat(20_000), '[a]('.repeat(10_000), '<'.repeat(50_000), '|'.repeat(50_000), '_a*b'.repeat(10_000), '\\'.repeat(50_001), '&'.repeat(50_000), 'https://'.repeat(6000), `|a|\n|-|\n${'|b'.repeat(20_000)}`, '\t'.repeat(50_000), '1. '.repeat(15_000)];
  const given = await html(hostile, 997);
  assert.equal(given.length, hostile.length);
});
