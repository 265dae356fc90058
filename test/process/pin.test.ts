import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fakeAgent, type PrdStory, type Step, Workspace } from '../support/ralph.ts';

const PIN = 'specs/INDEX.md';

interface Answer {
  readonly file: string;
  readonly changed: boolean;
  readonly written: boolean;
  readonly entries: readonly {
    readonly title: string;
    readonly isGenerated: boolean;
    readonly keywords: readonly string[];
    readonly files: readonly string[];
    readonly stale: readonly { readonly path: string; readonly since?: string }[];
  }[];
  readonly text?: string;
  readonly described?: number;
  readonly costUsd?: number;
}

/** A small shop, in whose code nobody says "login". */
async function shop(t: TestContext, stories?: readonly PrdStory[]): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories });
  for (const [file, text] of Object.entries({
    'src/auth/session.ts':
      "import { z } from 'zod';\nexport function openSession(user: string): void {}\nconst secret = 'swordfish';\n",
    'src/auth/token.ts': 'export class Token { refresh(): void {} }\n',
    'src/basket/basket.ts': 'export class Basket { add(item: string): void {} }\n',
    'src/basket/discount.ts': 'export function discountOf(price: number): number { return 0; }\n',
    'src/generated/client.ts': '// @generated\nexport function leaked(): void {}\n',
    'src/generated/model.ts': '// @generated\nexport class Leaked {}\n',
    'config/credentials.json': '{"password": "swordfish"}\n',
    'ignored/hidden.ts': 'export function hidden(): void {}\n',
    'ignored/other.ts': 'export function other(): void {}\n',
    '.gitignore': 'ignored/\n.omc/state/\n',
    'specs/sessions.md': '# Sessions\n\nHow `src/auth/session.ts` works.\n',
  })) {
    await put(workspace, file, text);
  }
  commit(workspace, 'start');
  await put(workspace, 'src/auth/session.ts', '\nexport function closeSession(): void {}\n', 'a');
  commit(workspace, 'fix: login works again after a day');
  return workspace;
}

async function put(workspace: Workspace, file: string, text: string, flag = 'w'): Promise<void> {
  const full = path.join(workspace.folder, file);
  await mkdir(path.dirname(full), { recursive: true });
  await writeFile(full, text, { flag });
}

function commit(workspace: Workspace, subject: string): void {
  workspace.git('add', '--all');
  workspace.git('commit', '--quiet', '--message', subject);
}

async function pin(workspace: Workspace, ...args: readonly string[]): Promise<Answer> {
  const { code, stderr, stdout } = await workspace.cli('pin', '--json', ...args).finished;
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Answer;
}

function enrich(workspace: Workspace, call: readonly Step[], ...args: readonly string[]) {
  return workspace.cliWith(
    { FAKE_AGENT_SCRIPT: JSON.stringify([call]) },
    ...['pin', '--enrich', '--agent', 'claude', '--claude-path', fakeAgent('scripted'), ...args],
  ).finished;
}

/** A section by its title, without its heading. */
function section(text: string, title: string): string {
  return text.split(/^(?=## )/m).find(one => one.startsWith(`## ${title}\n`)) ?? '';
}

describe('pin', { concurrency: 3 }, () => {
  test('writes the parts of the code with keywords, files and specs', async t => {
    const workspace = await shop(t);
    const { code, stderr, stdout } = await workspace.cli('pin').finished;
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'Wrote specs/INDEX.md: 2 entries, 2 of them generated.\n');
    const text = await workspace.read(PIN);
    assert.match(text, /^# Specs Index \(The Pin\)\n/);
    const auth = section(text, 'src/auth');
    assert.match(auth, /\nKeywords \(generated\): .*\blogin\b/, 'only a commit knows that word');
    for (const word of ['session', 'token', 'zod', 'auth']) {
      assert.match(auth, new RegExp(`Keywords \\(generated\\): .*\\b${word}\\b`));
    }
    assert.match(auth, /\nFiles \(generated\): src\/auth\/, src\/auth\/session\.ts, /);
    assert.match(auth, /\nSpecs \(generated\): specs\/sessions\.md\n/);
    assert.match(section(text, 'src/basket'), /\bdiscount\b/);
    assert.doesNotMatch(text, /swordfish|leaked|hidden|credentials|\[ \]/i);

    const before = await stat(path.join(workspace.folder, PIN));
    const again = await workspace.cli('pin').finished;
    assert.equal(again.stdout, 'specs/INDEX.md is up to date: 2 entries.\n');
    assert.equal((await stat(path.join(workspace.folder, PIN))).ino, before.ino);
    assert.equal(await workspace.read(PIN), text);
  });

  test('keeps what a person wrote byte for byte, and marks what is gone', async t => {
    const workspace = await shop(t);
    workspace.git('mv', 'src/basket/discount.ts', 'src/basket/rebate.ts');
    workspace.git('commit', '--quiet', '--message', 'A discount is a rebate');
    const hash = workspace.git('rev-parse', 'HEAD').slice(0, 10);
    const own = Buffer.from(
      '\uFEFF# Our index\r\n\r\n## Checkout\r\nKeywords: trolley, cart,\r\n  shopping bag\r\nFiles: `src/basket/`, src/basket/discount.ts\r\nSpec: specs/typo.md\r\n\r\n- [ ] `specs/vouchers.md` Vouchers\r\n  More about it\r\n\r\n## Notes\r\n\tMine.  ',
    );
    await writeFile(path.join(workspace.folder, PIN), own);
    const list = async () => {
      const { stdout } = await workspace.cli('stories', '--json', '--file', PIN).finished;
      const { stories } = JSON.parse(stdout) as { stories: { id: string; title: string }[] };
      return stories.map(({ id, title }) => [id, title]);
    };
    const before = await list();
    assert.deepEqual(before, [['vouchers', '`specs/vouchers.md` Vouchers']]);
    const { entries } = await pin(workspace);
    const after = await readFile(path.join(workspace.folder, PIN));
    const [head = '', tail = ''] = own.toString().split('Spec: specs/typo.md\r\n');
    const text = after.toString();
    assert.ok(text.startsWith(`${head}Spec: specs/typo.md\r\nKeywords (generated): `));
    assert.ok(text.includes(`\r\n${tail}\r\n\r\n## src/auth\r\n<!-- generated`));
    assert.ok(
      text.includes(
        `\r\nStale (generated): src/basket/discount.ts is gone since ${hash}, specs/typo.md does not exist\r\n`,
      ),
      text,
    );
    assert.doesNotMatch(text, /[^\r]\n/);
    assert.deepEqual(entries.find(({ title }) => title === 'Checkout')?.stale, [
      { path: 'src/basket/discount.ts', since: hash },
      { path: 'specs/typo.md' },
    ]);
    assert.deepEqual(await list(), before);

    // What is there again is not marked any more.
    await put(workspace, 'src/basket/discount.ts', 'export const none = 0;\n');
    await put(workspace, 'specs/typo.md', '# Typos\n');
    await pin(workspace);
    assert.doesNotMatch(await workspace.read(PIN), /Stale/);
  });

  test('--dry-run prints the text and writes nothing', async t => {
    const workspace = await shop(t);
    const { code, stderr, stdout } = await workspace.cli('pin', '--dry-run').finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^# Specs Index[\s\S]*\n## src\/auth\n[\s\S]*\n## src\/basket\n/);
    assert.match(stderr, /^Nothing is written\. Without --dry-run, this is specs\/INDEX\.md\.\n$/);
    assert.equal(existsSync(path.join(workspace.folder, PIN)), false);
    const answer = await pin(workspace, '--dry-run');
    assert.deepEqual([answer.changed, answer.written], [true, false]);
    assert.equal(answer.text, stdout);
  });

  test('is refused while a run is active, for an agent, without commits, and for broken text', async t => {
    const workspace = await shop(t, [
      { id: 'US-001', title: 'A story', passes: false, priority: 1, acceptanceCriteria: ['It is'] },
    ]);
    const run = workspace.script([['stay']]);
    await workspace.agent(1);
    const refused = await workspace.cli('pin').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /A run is already active in this folder/);
    assert.equal(existsSync(path.join(workspace.folder, PIN)), false);
    assert.match((await workspace.cli('pin', '--dry-run').finished).stdout, /^# Specs Index/);
    await workspace.cli('stop').finished;
    await run.finished;

    for (const [content, message] of [
      [
        Buffer.from([0x23, 0x0a, 0x61, 0xff, 0x0a]),
        /INDEX\.md, line 2, column 2: The file is not UTF-8/,
      ],
      [Buffer.from('# A\n\n```\nopen\n'), /line 3: the code fence or comment .* never closed/],
    ] as const) {
      await writeFile(path.join(workspace.folder, PIN), content);
      const broken = await workspace.cli('pin').finished;
      assert.equal(broken.code, 1);
      assert.match(broken.stderr, message);
      assert.deepEqual(await readFile(path.join(workspace.folder, PIN)), content);
    }
    const useless = await workspace.cli('pin', '--agent', 'claude').finished;
    assert.equal(useless.code, 64);
    assert.match(useless.stderr, /Add --enrich\./);
    const agent = await workspace.cliWith({ RALPH_FRESH_RUN: 'a-run' }, 'pin').finished;
    assert.equal(agent.code, 1);
    assert.match(agent.stderr, /An agent cannot use "pin"/);

    const empty = await Workspace.create(t, { git: false });
    const nothing = await empty.cli('pin').finished;
    assert.equal(nothing.code, 1);
    assert.match(nothing.stderr, /not in a git repository, .* Run "git init" there, commit/);
    empty.git('init', '--quiet');
    const begun = await empty.cli('pin').finished;
    assert.equal(begun.code, 1);
    assert.match(begun.stderr, /has no commits, and the Pin is made from committed files/);

    const bare = path.join(workspace.notesDir, 'bare.git');
    workspace.git('clone', '--quiet', '--bare', '.', bare);
    const inBare = await workspace.cli('pin', '--cwd', bare).finished;
    assert.equal(inBare.code, 1);
    assert.match(inBare.stderr, /no work tree .*git worktree add/);
    assert.ok(!existsSync(path.join(bare, 'specs')));
  });

  test('a link out of the repository is not followed', async t => {
    const workspace = await shop(t);
    const outside = path.join(workspace.notesDir, 'outside.md');
    await writeFile(outside, '# Somebody else\n');
    await symlink(outside, path.join(workspace.folder, PIN));
    const { code, stderr } = await workspace.cli('pin').finished;
    assert.equal(code, 1);
    assert.match(stderr, /is a link out of the repository/);
    assert.equal(await readFile(outside, 'utf8'), '# Somebody else\n');
  });

  test('--enrich adds the words of an agent as plain text, and they stay', async t => {
    const workspace = await shop(t);
    const modules = [
      {
        title: 'src/auth',
        about: 'Signs users in.\n- [ ] not a story <!-- nor a comment',
        keywords: ['sign in', '# password', '- [ ] credentials', '```'],
      },
      { title: 'nowhere', about: 'x', keywords: [] },
    ];
    const answer: Step = { result: [`\`\`\`json\n${JSON.stringify({ modules })}\n\`\`\``] };
    const { code, stderr, stdout } = await enrich(workspace, [answer]);
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^Wrote specs\/INDEX\.md: 2 entries[^\n]*\nAn agent described 1 of them\.\n$/,
    );
    const text = await workspace.read(PIN);
    assert.match(
      section(text, 'src/auth'),
      /\nAbout \(generated by agent\): Signs users in\. - not a story -- nor a comment\nKeywords \(generated by agent\): sign in, password, credentials\nKeywords \(generated\): /,
    );
    assert.equal((await pin(workspace)).changed, false);

    const [note] = await workspace.notes();
    assert.ok(
      note?.args?.some(arg => /Read/.test(arg)),
      'it may only read',
    );
  });

  test('the Pin is valid even if the agent fails', async t => {
    const workspace = await shop(t);
    const { code, stderr, stdout } = await enrich(workspace, [{ result: ['I cannot.'] }]);
    assert.equal(code, 1);
    assert.match(stdout, /^Wrote specs\/INDEX\.md/);
    assert.match(stderr, /no valid keywords .* in 3 tries: .* The Pin is good without them/);
    assert.equal((await pin(workspace)).changed, false);
    const demo = await workspace.cli('pin', '--enrich', '--agent', 'demo').finished;
    assert.equal(demo.code, 1);
    assert.match(demo.stderr, /The demo agent .* knows no keywords/);
  });

  test('prompts mention the Pin, and keywords of a person lead to the files', async t => {
    const workspace = await shop(t, [
      {
        ...{ id: 'US-001', title: 'Kunden melden sich an', priority: 1, passes: false },
        acceptanceCriteria: ['It works'],
      },
    ]);
    const preview = async () => {
      const { stdout, stderr } = await workspace.cli('context', 'US-001', '--json').finished;
      assert.equal(stderr, '');
      return JSON.parse(stdout) as {
        sections: { name: string; text: string }[];
        code: { path: string; reason: string }[];
      };
    };
    const mission = ({ sections }: Awaited<ReturnType<typeof preview>>) =>
      sections.find(({ name }) => name === 'mission')?.text ?? '';
    const without = await preview();
    assert.doesNotMatch(mission(without), /INDEX/);
    await pin(workspace);
    const generated = await preview();
    assert.match(mission(generated), /\n- Search `specs\/INDEX\.md` \(the Pin: /);
    assert.ok(generated.code.every(({ path: file }) => file !== PIN));
    assert.ok(generated.code.every(({ reason }) => reason !== 'pin'));
    const text = await workspace.read(PIN);
    const own = text.replace(/^## src\/basket\n.*\n/m, '$&Keywords: anmelden, melden\n');
    await workspace.write(PIN, own);
    const { code } = await preview();
    assert.deepEqual(
      code.slice(0, 2).map(({ path: file, reason }) => [path.dirname(file), reason]),
      [
        ['src/basket', 'pin'],
        ['src/basket', 'pin'],
      ],
    );
  });
});
