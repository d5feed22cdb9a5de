// A server of one's own and a browser, for tests of the page.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const TOP = path.resolve(import.meta.dirname, '../../../..');
const TARGET = path.resolve(TOP, process.env.CARGO_TARGET_DIR ?? 'target');
const BINARY = process.env.TURNWIRE_SERVER ?? path.join(TARGET, 'debug/turnwire-server');
const BROWSER = process.env.CHROMIUM ?? '/usr/bin/chromium';
const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

/** Where screenshots go. */
export const SHOTS = path.join(TARGET, 'screenshots');

/** Starts the real server; `{ url, stop }`. */
export async function startServer(...flags) {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is not there: run make test-browser`);
  const data = mkdtempSync(path.join(tmpdir(), 'turnwire-page-'));
  const server = spawn(BINARY, ['--port', '0', '--data-dir', data, ...flags], { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = new Promise((resolve) => server.on('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    let said = '';
    server.stdout.on('data', (bytes) => {
      said += bytes;
      const found = /listening on (\S+)\n/.exec(said);
      if (found) resolve(found[1]);
    });
    server.on('exit', (status) => reject(new Error(`the server ended with ${status}`)));
  });
  const stop = async () => {
    server.kill();
    await exited;
    rmSync(data, { recursive: true, force: true });
  };
  return { url, stop };
}

export async function startBrowser() {
  if (!existsSync(BROWSER)) throw new Error(`${BROWSER} is not there: install chromium, or set CHROMIUM`);
  return chromium.launch({ executablePath: BROWSER, args: QUIET });
}

/**
 * A page in a context of its own, with the words that a person would use for what is on it.
 * `errors` gathers what a browser's console would show in red.
 */
export async function openPage(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const tab = new Tab(context, page);
  await page.goto(address);
  await tab.live();
  return tab;
}

export class Tab {
  constructor(context, page) {
    this.context = context;
    this.page = page;
    this.errors = [];
    page.on('console', (message) => message.type() === 'error' && this.errors.push(message.text()));
    page.on('pageerror', (error) => this.errors.push(error.stack));
    this.prompt = page.getByRole('textbox', { name: 'Message' });
    this.log = page.getByRole('log');
    this.send = page.getByRole('button', { name: 'Send' });
    this.stop = page.getByRole('button', { name: 'Stop' });
    this.ends = this.log.getByText(/^Turn ended/);
  }

  /** Waits until the page is connected and no turn runs. */
  live() {
    return this.page.locator('html[data-state="ready"], html[data-state="busy"]').waitFor();
  }

  /** Sends a prompt and does not wait for the answer. */
  async begin(text) {
    await this.prompt.fill(text);
    await this.prompt.press('Enter');
  }

  /** Sends a prompt and waits until the turn has ended. */
  async say(text) {
    const ended = await this.ends.count();
    await this.begin(text);
    await this.ends.nth(ended).waitFor();
  }

  /** What the conversation shows: a name and a text a row, without times, buttons and thoughts. */
  rows() {
    return this.page.evaluate(() =>
      [...document.querySelectorAll('[role="log"] .row')].filter((row) => !row.hidden).map((row) => {
        const copy = row.cloneNode(true);
        for (const extra of copy.querySelectorAll('.tools, .copy, .preview, .unseen, .body')) extra.remove();
        return `${row.getAttribute('aria-label')}: ${copy.textContent.trim()}`;
      }),
    );
  }

  close() {
    return this.context.close();
  }
}

/** A new session's address. */
export async function newSession(url) {
  const answer = await fetch(`${url}/page/sessions`, { method: 'POST' });
  return `${url}/?session=${(await answer.json()).id}`;
}
