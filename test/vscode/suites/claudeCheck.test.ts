import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { Folder } from '../../../src/views/folders/folder.ts';
import type { Folders } from '../../../src/views/folders/folders.ts';
import { RunSettings } from '../../../src/views/settings/runSettings.ts';
import { ClaudeCheck } from '../../../src/views/setup/claudeCheck.ts';

/** Answers as `ralph-fresh doctor`: a folder `with…` has Claude Code, another one has not and waits to be told to say so. */
const DOCTOR = `
const fs = require('node:fs');
const path = require('node:path');
const folder = process.argv.find(argument => argument.startsWith('--cwd=')).slice(6);
const has = path.basename(folder).startsWith('with-');
const answer = () => {
  fs.appendFileSync(path.join(__dirname, 'asked'), path.basename(folder) + '\\n');
  const facts = has ? { agent: 'claude', file: '/bin/claude', version: '2.0.0' } : { agent: 'claude' };
  const message = 'Claude Code was not found';
  console.log(JSON.stringify({ checks: [{ id: 'claude', level: has ? 'ok' : 'error', message, facts }] }));
};
const look = () =>
  has || fs.existsSync(path.join(__dirname, 'go')) ? answer() : setTimeout(look, 20);
look();
`;

suite('The check for Claude Code', () => {
  test('each folder of a window has its own result', async () => {
    const dir = await mkdtemp(path.join(tmpdir(), 'ralph-fresh-doctor-'));
    const program = path.join(dir, 'doctor.cjs');
    await writeFile(program, DOCTOR);
    const kept = new Map<string, unknown>();
    const state = {
      keys: () => [...kept.keys()],
      get: (key: string) => kept.get(key),
      update: async (key: string, value: unknown) => void kept.set(key, value),
    } as vscode.Memento;
    const folderAt = (name: string) => new Folder(path.join(dir, name), name, state, assert.fail);
    const has = folderAt('with-claude');
    const lacks = folderAt('without-claude');
    const changes = new vscode.EventEmitter<undefined>();
    const folders = {
      all: [has, lacks],
      active: lacks,
      onDidChange: changes.event,
      onDidChangeActive: changes.event,
    } as unknown as Folders;
    const log = vscode.window.createOutputChannel('Test', { log: true });
    const settings = new RunSettings(log);
    const check = new ClaudeCheck(folders, settings, program, log);
    try {
      // While the one is still looked at, a run of the other is not refused for it.
      const slow = check.look(lacks);
      await check.requireAgent(has);
      await writeFile(path.join(dir, 'go'), '');
      assert.equal((await slow).kind, 'missing');
      assert.equal((await check.look(has)).kind, 'found');
      assert.equal((await check.look(lacks)).kind, 'missing');
      await assert.rejects(check.requireAgent(lacks), /Claude Code was not found/);
    } finally {
      for (const object of [check, settings, log, has, lacks, changes]) {
        object.dispose();
      }
      await rm(dir, { recursive: true, force: true });
    }
  });
});
