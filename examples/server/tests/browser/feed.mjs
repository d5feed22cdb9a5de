// A stand-in for the server, for loads that the built-in agent does not make: it serves the page's
// files under the server's own policy, and one session whose view and ops the test gives.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const FILES = path.resolve(import.meta.dirname, '../../page');
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'";

/** `{ url, send(ops, frames), stop }`; `send` goes to every page that is connected. */
export async function startFeed(view) {
  const pages = new Set();
  let revision = 0;
  const write = (page, event, data) => page.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://feed');
    if (pathname.endsWith('/ops')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      write(response, 'view', { session: 'feed', view, frames: [] });
      pages.add(response);
      return response.on('close', () => pages.delete(response));
    }
    if (request.method === 'POST') return response.writeHead(202).end();
    const name = pathname === '/' ? 'index.html' : path.basename(pathname);
    const type = `${TYPES[path.extname(name)]}; charset=utf-8`;
    response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY });
    response.end(await readFile(path.join(FILES, name)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/?session=feed`,
    send(ops, frames = []) {
      revision += 1;
      for (const page of pages) write(page, 'ops', { revision, ops, frames });
    },
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A row as the server gives it. */
export function row(id, kind, text, more = {}) {
  return { id, kind, kind_code: 0, text, at: 1_764_536_400_000 + id, ...more };
}
