// The connection to the server: a view, then ops, and a new view after every break.

/** Silence after which a connection is given up; the server speaks at least every 15 s. */
const SILENCE_MS = 40_000;
const RETRY_MS = [300, 600, 1200, 2400, 5000];

export class Stream {
  /** `on` has `view(start)`, `ops(batch)` and `state(word)`: connecting, live, offline, gone. */
  constructor(session, on) {
    this.base = `/page/sessions/${encodeURIComponent(session)}`;
    this.on = on;
    this.tries = 0;
    this.source = null;
    addEventListener('offline', () => this.lost());
    addEventListener('online', () => this.connect());
    // A page that comes back from the browser's cache has a connection that is dead.
    addEventListener('pageshow', (event) => event.persisted && this.connect());
    addEventListener('pagehide', () => this.close());
    this.connect();
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  connect() {
    this.close();
    const source = new EventSource(`${this.base}/ops`);
    this.source = source;
    const listen = (name, act) =>
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.watch();
        act(JSON.parse(event.data));
      });
    listen('view', (start) => {
      this.tries = 0;
      this.on.state('live');
      this.on.view(start);
    });
    listen('ops', (batch) => this.on.ops(batch));
    listen('ping', () => {});
    source.addEventListener('error', () => source === this.source && this.lost());
    this.watch();
  }

  watch() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lost(), SILENCE_MS);
  }

  /** Tries again by itself, first soon and then more seldom. */
  async lost() {
    this.close();
    this.on.state('offline');
    const wait = RETRY_MS[Math.min(this.tries, RETRY_MS.length - 1)];
    this.tries += 1;
    this.timer = setTimeout(async () => {
      if (!navigator.onLine) return; // There will be an event when it is.
      if (await this.isGone()) this.on.state('gone');
      else if (!this.source) this.connect();
    }, wait);
  }

  /** Whether the server answers and does not know the session: it was started anew. */
  async isGone() {
    try {
      const signal = AbortSignal.timeout(4000);
      const answer = await fetch(`${this.base}/ops`, { method: 'HEAD', signal });
      return answer.status === 404;
    } catch {
      return false;
    }
  }

  /** Sends something; gives the answer, or throws an Error with words for people. */
  async post(what, body = {}) {
    let answer;
    try {
      answer = await fetch(`${this.base}/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    } catch {
      throw new Error('The server cannot be reached. Your message is still here.');
    }
    const text = await answer.text();
    if (answer.ok) return text ? JSON.parse(text) : {};
    let message = `The server answered ${answer.status}.`;
    try {
      message = JSON.parse(text).error ?? message;
    } catch {
      // Not from this server, but from something between.
    }
    throw new Error(message);
  }
}
