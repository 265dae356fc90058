import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApp } from '../src/app.ts';
import { TodoStore } from '../src/todoStore.ts';

const post = (body: string) => new Request('http://test/todos', { method: 'POST', body });

for (const body of ['', 'Buy milk', '{"title":', '["Buy milk"]', 'null']) {
  test(`POST /todos refuses the body ${JSON.stringify(body)}`, async () => {
    const store = new TodoStore();

    const response = await createApp(store)(post(body));

    assert.equal(response.status, 400);
    assert.match(await response.text(), /must be/);
    assert.equal(store.size, 0);
  });
}

const titles: [string, unknown][] = [
  ['no title', undefined],
  ['an empty title', ''],
  ['a blank title', '  '],
  ['a number for a title', 42],
  ['a title of 201 characters', 'x'.repeat(201)],
];
for (const [name, title] of titles) {
  test(`POST /todos refuses ${name}`, async () => {
    const store = new TodoStore();

    const response = await createApp(store)(post(JSON.stringify({ title })));

    assert.equal(response.status, 422);
    assert.match(await response.text(), /title/);
    assert.equal(store.size, 0);
  });
}

test('a title of 200 characters is fine, space around it is dropped', async () => {
  const store = new TodoStore();
  const title = 'x'.repeat(200);

  const response = await createApp(store)(post(JSON.stringify({ title: ` ${title} ` })));

  assert.equal(response.status, 201);
  assert.deepEqual(await response.json(), { id: 1, title, done: false });
});
