import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApp } from '../src/app.ts';
import { TodoStore } from '../src/todoStore.ts';

const post = (body: unknown) =>
  new Request('http://test/todos', { method: 'POST', body: JSON.stringify(body) });

test('POST /todos creates a todo and says where it is', async () => {
  const app = createApp(new TodoStore());

  const response = await app(post({ title: 'Buy milk' }));

  assert.equal(response.status, 201);
  assert.equal(response.headers.get('location'), '/todos/1');
  assert.deepEqual(await response.json(), { id: 1, title: 'Buy milk', done: false });
});

test('ids count up', async () => {
  const app = createApp(new TodoStore());

  await app(post({ title: 'Buy milk' }));
  const response = await app(post({ title: 'Bake bread' }));

  assert.deepEqual(await response.json(), { id: 2, title: 'Bake bread', done: false });
});

test('the service counts its todos', async () => {
  const app = createApp(new TodoStore());

  await app(post({ title: 'Buy milk' }));
  const response = await app(new Request('http://test/health'));

  assert.deepEqual(await response.json(), { status: 'ok', todos: 1 });
});
