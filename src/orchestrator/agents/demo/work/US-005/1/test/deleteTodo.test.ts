import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApp } from '../src/app.ts';
import { TodoStore } from '../src/todoStore.ts';

const remove = (id: number) => new Request(`http://test/todos/${id}`, { method: 'DELETE' });

test('DELETE /todos/:id removes a todo and leaves the others', async () => {
  const store = new TodoStore();
  store.add('Buy milk');
  store.add('Bake bread');

  const response = await createApp(store)(remove(1));

  assert.equal(response.status, 204);
  assert.equal(await response.text(), '');
  assert.deepEqual(store.list(), [{ id: 2, title: 'Bake bread', done: false }]);
});

test('DELETE /todos/:id answers 404 the second time', async () => {
  const store = new TodoStore();
  store.add('Buy milk');
  const app = createApp(store);

  await app(remove(1));
  const response = await app(remove(1));

  assert.equal(response.status, 404);
});

test('the id of a deleted todo is not used again', () => {
  const store = new TodoStore();
  store.add('Buy milk');

  store.delete(1);

  assert.equal(store.add('Bake bread').id, 2);
});
