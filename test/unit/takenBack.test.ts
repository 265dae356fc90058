import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { takenBack } from '../../src/orchestrator/git/takenBack.ts';

/** Commits `hash` with their files `tree`, the oldest first, as in "one:a two:b"; "undo:a!" says that it reverts. */
const line = (text: string) =>
  text.split(' ').map(word => {
    const [hash = '', tree = ''] = word.replace('!', '').split(':');
    return { hash, tree, reverts: word.endsWith('!') ? ['any'] : [] };
  });
const gone = (text: string) => [...takenBack(line(text))].sort();

test('what a later commit has taken back does not count any more, nor does that commit', () => {
  assert.deepEqual(gone('start:a one:b two:c'), []);
  assert.deepEqual(gone('start:a one:b two:c back:a'), ['back', 'one', 'two']);
  assert.deepEqual(gone('start:a one:b two:c back:b three:d'), ['back', 'two']);
  // The same story was done again, with the same files: it is the new work that counts.
  assert.deepEqual(gone('start:a one:b back:a again:b'), ['back', 'one']);
});

test('what is reverted itself brings its commits back', () => {
  assert.deepEqual(gone('start:a one:b two:c back:a undo:c! three:d'), ['back', 'undo']);
});

test('a commit without changes takes nothing back', () => {
  assert.deepEqual(gone('start:a one:b empty:b two:c'), []);
  assert.deepEqual(gone('start:a one:b empty:b two:c back:b'), ['back', 'two']);
});

test('the commits that count have the files of the last one, each state once', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.boolean()), {
        minLength: 1,
        maxLength: 12,
      }),
      made => {
        const commits = made.map(([tree, isRevert], at) => ({
          ...{ hash: String(at), tree },
          reverts: isRevert ? ['any'] : [],
        }));
        const all = takenBack(commits);
        const counting = commits.filter(({ hash }) => !all.has(hash)).map(({ tree }) => tree);
        assert.equal(counting.at(-1), made.at(-1)?.[0]);
        const states = counting.filter((tree, index) => tree !== counting[index - 1]);
        assert.equal(new Set(states).size, states.length);
      },
    ),
  );
});

test('what a commit says to have taken back does not count, as long as that commit does', () => {
  const commit = (hash: string, tree: string, more = {}) => ({ hash, tree, reverts: [], ...more });
  const gone = (...line: ReturnType<typeof commit>[]) => [...takenBack(line)];
  const work = [commit('start', 'a'), commit('one', 'b'), commit('two', 'c')];
  const revert = commit('revert', 'd', { takesBack: ['one'] });
  assert.deepEqual(gone(...work, revert), ['one']);
  assert.deepEqual(gone(...work, revert, commit('undo', 'c')), ['revert', 'undo']);
  const more = [...work, revert, commit('three', 'e')];
  const undo = commit('undo', 'f', { reverts: ['revert'] });
  assert.deepEqual(gone(...more, undo), []);
  assert.deepEqual(gone(...more, undo, commit('redo', 'g', { reverts: ['undo'] })), ['one']);
  // Something of the commits stays.
  const back = commit('back', 'e', { goesBackTo: 'start' });
  assert.deepEqual(gone(...work, back), ['one', 'two']);
  assert.deepEqual(gone(...work, back, commit('again', 'b'), commit('x', 'g')), ['one', 'two']);
  const undoBack = commit('undo', 'h', { reverts: ['back'] });
  assert.deepEqual(gone(...work, back, commit('three', 'g'), undoBack), []);
});

test('a rollback to where a commit still counted brings it back', () => {
  const commit = (hash: string, tree: string, more = {}) => ({ hash, tree, reverts: [], ...more });
  const gone = (...line: ReturnType<typeof commit>[]) => [...takenBack(line)];
  const work = [commit('start', 'a'), commit('one', 'b'), commit('two', 'c'), commit('three', 'd')];
  const toOne = commit('toOne', 'b', { goesBackTo: 'one' });
  const toTwo = commit('toTwo', 'c', { goesBackTo: 'two' });
  assert.deepEqual(gone(...work, toOne, toTwo), ['three', 'toOne']);
  const again = commit('again', 'b', { goesBackTo: 'one' });
  assert.deepEqual(gone(...work, toOne, toTwo, again), ['two', 'three', 'toOne', 'toTwo']);
  const undo = commit('undo', 'f', { reverts: ['toTwo'] });
  const more = [commit('four', 'e'), undo];
  assert.deepEqual(gone(...work, toOne, toTwo, ...more), ['two', 'three']);
  // What had taken it back is no part of that state any more.
  const revert = commit('revert', 'g', { takesBack: ['two'] });
  assert.deepEqual(gone(...work, revert, toTwo), ['three', 'revert']);
  const byGit = commit('byGit', 'b', { reverts: ['two'] });
  assert.deepEqual(gone(...work.slice(0, 3), byGit, toTwo), ['byGit']);
});
