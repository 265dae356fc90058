import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { readProgressLog } from '../../src/orchestrator/context/progressLog.ts';

// Real logs of strangers are kept next to the repository, not in it; `RALPH_CORPUS` may say where.
const corpus =
  process.env['RALPH_CORPUS'] ?? path.join(import.meta.dirname, '../../../shared/corpus');

/** The headings that the manifest counted in each log; none without a corpus. */
function expected(): { file: string; headings: number }[] {
  const manifest = path.join(corpus, 'MANIFEST.tsv');
  if (!existsSync(manifest)) {
    return [];
  }
  const [head = '', ...rows] = readFileSync(manifest, 'utf8').trimEnd().split('\n');
  const column = head.split('\t').indexOf('stories');
  return rows
    .map(row => row.split('\t'))
    .map(cells => ({ file: cells[0] ?? '', headings: Number(cells[column]) }))
    .filter(({ file }) => file.startsWith('progress/'));
}

describe('progress logs of public repositories', () => {
  for (const { file, headings } of expected()) {
    test(file, async () => {
      const log = await readProgressLog(path.join(corpus, file));
      assert.equal(log.entries.length, headings);
      for (const text of [...log.patterns, ...log.learnings]) {
        assert.match(text, /[\p{L}\p{N}]/u);
        assert.doesNotMatch(text, /\n|^\s|\s$/);
      }
    });
  }
});
