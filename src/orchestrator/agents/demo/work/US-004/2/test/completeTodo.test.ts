import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApp } from '../src/app.ts';
import { TodoStore } from '../src/todoStore.ts';

const patch = (id: number, body: unknown) =>
  new Request(`http://test/todos/${id}`, { method: 'PATCH', body: JSON.stringify(body) });

function storeWithMilk(): TodoStore {
  const store = new TodoStore();
  store.add('Buy milk');
  return store;
}

test('PATCH /todos/:id completes a todo', async () => {
  const store = storeWithMilk();

  const response = await createApp(store)(patch(1, { done: true }));

  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { id: 1, title: 'Buy milk', done: true });
  assert.equal(store.get(1)?.done, true);
});

test('PATCH /todos/:id opens a todo again', async () => {
  const store = storeWithMilk();
  const app = createApp(store);

  await app(patch(1, { done: true }));
  await app(patch(1, { done: false }));

  assert.equal(store.get(1)?.done, false);
});

test('PATCH /todos/:id answers 404 for an unknown todo', async () => {
  const response = await createApp(storeWithMilk())(patch(2, { done: true }));

  assert.equal(response.status, 404);
});

for (const done of [undefined, 'yes', 1, null]) {
  test(`PATCH /todos/:id refuses ${JSON.stringify({ done })}`, async () => {
    const store = storeWithMilk();

    const response = await createApp(store)(patch(1, { done }));

    assert.equal(response.status, 422);
    assert.equal(store.get(1)?.done, false);
  });
}
