import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { saidOf } from '../../src/base/messageOf.ts';
import { englishOf } from '../../src/base/say.ts';
import { systemRefusal } from '../../src/base/systemRefusal.ts';
import { asHumanError } from '../../src/orchestrator/git/gitErrors.ts';
import { tempDir } from '../support/cleanEnv.ts';

/** Windows calls it by another code. */
const posix = { skip: process.platform === 'win32' && 'another code on Windows' };

function refusal(code: string, more: object = {}): Error {
  return Object.assign(new Error(`${code}: words of the system`), { code, ...more });
}

describe('errors of the operating system', () => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EFBIG']) {
    test(`${code} means that the disk is full, whether or not the file is known`, () => {
      assert.match(
        englishOf(systemRefusal(refusal(code)) ?? ''),
        /No space is left on the disk \(.*\)\. Free some space/,
      );
      assert.match(
        englishOf(systemRefusal(refusal(code, { path: '/a/b' })) ?? ''),
        /No space is left .*\/a\/b cannot be written\. Free some space/,
      );
    });
  }

  for (const code of ['EROFS', 'EIO', 'EMFILE', 'ENFILE']) {
    test(`${code} does not need a file`, () => {
      assert.match(englishOf(systemRefusal(refusal(code)) ?? ''), /^[^\n]+\.$/);
    });
  }

  test('a failed rename names the target, not the temporary file', () => {
    const error = refusal('EISDIR', { path: '/a/b.12ab.tmp', dest: '/a/b' });
    assert.match(
      englishOf(systemRefusal(error) ?? ''),
      /a folder at \/a\/b, where a file is needed\. Move it out of the way/,
    );
  });

  test('messages of git are recognized in English', () => {
    const words = 'fatal: unable to write loose object file: No space left on device';
    assert.match(asHumanError(new Error(words)).message, /Free some space, and try again/);
  });

  for (const code of ['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'EISDIR', 'ELOOP', 'ENOTDIR']) {
    test(`${code} names the file`, () => {
      assert.match(englishOf(systemRefusal(refusal(code, { path: '/a/b' })) ?? ''), /\/a\/b/);
    });
  }

  test('ENOTDIR names what is in the place of a folder', posix, async t => {
    const temp = await tempDir('ralph-fresh-refusal-');
    t.after(temp.remove);
    const file = path.join(temp.path, 'file');
    await writeFile(file, '');
    const error = await mkdir(path.join(file, 'a/b'), { recursive: true }).catch(caught => caught);
    assert.match(englishOf(saidOf(error)), /^There is no folder at .*file, where one is needed\. /);
    assert.match(englishOf(systemRefusal(error) ?? ''), /out of the way\. \(ENOTDIR\)$/);
  });

  test('an error with such a cause counts as one', () => {
    const error = new Error('Nothing was kept', { cause: refusal('ENOSPC') });
    assert.match(englishOf(systemRefusal(error) ?? ''), /No space is left on the disk \(ENOSPC\)/);
  });

  test('any other error is a bug of the program', () => {
    assert.equal(systemRefusal(new TypeError('x is not a function')), undefined);
    assert.equal(systemRefusal(refusal('ENOENT', { path: '/a' })), undefined);
    assert.equal(systemRefusal(refusal('ENOSPC', { syscall: 'watch' })), undefined);
    assert.equal(systemRefusal('text'), undefined);
  });
});
