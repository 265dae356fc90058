import { createServer, type IncomingMessage, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { App } from './app.ts';

/** Puts an app behind a socket. */
export function createHttpServer(app: App): Server {
  return createServer(async (incoming, outgoing) => {
    const response = await answer(app, incoming);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  });
}

async function answer(app: App, incoming: IncomingMessage): Promise<Response> {
  try {
    return await app(await toRequest(incoming));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    return Response.json({ error: 'Something went wrong on our side.' }, { status: 500 });
  }
}

async function toRequest(incoming: IncomingMessage): Promise<Request> {
  const method = incoming.method ?? 'GET';
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  const body = await buffer(incoming);
  return new Request(url, body.length > 0 ? { method, body: new Uint8Array(body) } : { method });
}
