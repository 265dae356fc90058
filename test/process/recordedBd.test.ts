import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { cleanEnv, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { ONE, RECORDED, type RecordedFact } from '../support/fakeTrackers/recordedBd.ts';

const program = path.resolve(import.meta.dirname, '../support/fakeTrackers/bd.mjs');

describe('the stand-in for bd does what was recorded of bd', () => {
  for (const recorded of RECORDED) {
    test(recorded.fact, async () => {
      await using folder = await tempDir('recorded-bd-');
      await check(recorded, folder);
    });
  }
});

async function check(recorded: RecordedFact, folder: TempDir): Promise<void> {
  const beads = path.join(folder.path, '.beads');
  await mkdir(beads);
  const issues = 'issues' in recorded ? recorded.issues : ONE;
  if (issues !== undefined) {
    await writeFile(path.join(beads, 'beads.db'), JSON.stringify(issues));
  }
  const run = (args: readonly string[], env: RecordedFact['env'] = {}) =>
    spawnSync(process.execPath, [program, ...args], {
      cwd: folder.path,
      env: cleanEnv({ home: folder.path, extra: env }),
      encoding: 'utf8',
    });
  for (const args of recorded.before ?? []) {
    run(args, recorded.env);
  }
  const { status, stderr, stdout } = run(recorded.call, recorded.env);
  assert.equal(status, recorded.exit, stderr + stdout);
  if (recorded.stdout !== undefined) {
    isLike(stdout, recorded.stdout);
  }
  if (recorded.stderr !== undefined) {
    isLike(stderr, recorded.stderr);
  }
  if (recorded.after !== undefined) {
    const [id = ''] = recorded.call.slice(1);
    const [shown] = JSON.parse(run(['show', id, '--json']).stdout);
    has(shown, recorded.after);
  }
  if ('file' in recorded) {
    const text = await readFile(path.join(beads, 'issues.jsonl'), 'utf8').catch(() => undefined);
    has(
      text
        ?.trim()
        .split('\n')
        .map(line => JSON.parse(line)),
      recorded.file,
    );
  }
}

function isLike(text: string, expected: string | RegExp | object): void {
  if (typeof expected === 'string') {
    assert.equal(text.trimEnd(), expected);
  } else if (expected instanceof RegExp) {
    assert.match(text.trimEnd(), expected);
  } else {
    has(JSON.parse(text), expected);
  }
}

/** Everything expected is there; there may be more, but no more entries of a list. */
function has(value: unknown, expected: unknown): void {
  if (expected instanceof RegExp) {
    assert.match(`${value}`, expected);
  } else if (typeof expected === 'object' && expected !== null) {
    assert.ok(typeof value === 'object' && value !== null, `${value}`);
    if (Array.isArray(expected)) {
      assert.ok(Array.isArray(value));
      assert.equal(value.length, expected.length);
    }
    for (const [key, one] of Object.entries(expected)) {
      has((value as Readonly<Record<string, unknown>>)[key], one);
    }
  } else {
    assert.equal(value, expected);
  }
}
