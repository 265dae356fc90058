import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createApp } from '../src/app.ts';
import { createHttpServer } from '../src/server.ts';
import { TodoStore } from '../src/todoStore.ts';

test('GET /health says that the service is up', async () => {
  const app = createApp(new TodoStore());

  const response = await app(new Request('http://test/health'));

  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: 'ok', todos: 0 });
});

test('an unknown route answers 404', async () => {
  const app = createApp(new TodoStore());

  const response = await app(new Request('http://test/nowhere'));

  assert.equal(response.status, 404);
});

test('the app is reachable over HTTP', async t => {
  const server = createHttpServer(createApp(new TodoStore())).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const response = await fetch(`http://127.0.0.1:${port}/health`);

  assert.equal(response.status, 200);
});
