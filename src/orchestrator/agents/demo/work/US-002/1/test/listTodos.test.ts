import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApp } from '../src/app.ts';
import { TodoStore } from '../src/todoStore.ts';

const list = () => new Request('http://test/todos');

test('GET /todos answers an empty list when there is nothing to do', async () => {
  const app = createApp(new TodoStore());

  const response = await app(list());

  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), []);
});

test('GET /todos answers the oldest todo first', async () => {
  const store = new TodoStore();
  store.add('Buy milk');
  store.add('Bake bread');
  const app = createApp(store);

  const response = await app(list());

  assert.deepEqual(await response.json(), [
    { id: 1, title: 'Buy milk', done: false },
    { id: 2, title: 'Bake bread', done: false },
  ]);
});
