import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApp } from '../src/app.ts';
import { TodoStore } from '../src/todoStore.ts';

const get = (path: string) => new Request(`http://test${path}`);

test('GET /todos/:id answers one todo', async () => {
  const store = new TodoStore();
  store.add('Buy milk');
  store.add('Bake bread');

  const response = await createApp(store)(get('/todos/2'));

  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { id: 2, title: 'Bake bread', done: false });
});

for (const path of ['/todos/1', '/todos/0', '/todos/milk', '/todos/{id}', '/constructor']) {
  test(`GET ${path} answers 404 when there is nothing`, async () => {
    const response = await createApp(new TodoStore())(get(path));

    assert.equal(response.status, 404);
  });
}
