// A stand-in for `bd`, the program of Beads, with the behaviour of bd 1.0 for the commands that Ralph calls, as its
// sources and help texts have it (steveyegge/beads, June 2026): show, close, reopen, create, export. It is not `bd`: its
// database is a JSON file in `.beads/beads.db`. It notes each call in `.beads/calls.jsonl` for the test.
// FAKE_BD_EXPORT=1: writes the JSONL file after a change, as `export.auto` does. FAKE_BD_FAILS=<command>: that command
// fails as it does when another process holds the database. FAKE_BD_HANGS=<command>: it never answers.
// FAKE_BD_LEAVES=<command>: it starts a process that keeps its output open and outlives it, with its pid in `.beads/left`.
// FAKE_BD_KILLED=<command>: somebody ends it.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

const [command = '', ...args] = process.argv.slice(2);
const database = '.beads/beads.db';

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const flag = name => {
  const joined = args.find(arg => arg.startsWith(`--${name}=`));
  const at = args.indexOf(`--${name}`);
  return joined?.slice(name.length + 3) ?? (at === -1 ? undefined : args[at + 1]);
};
if (!existsSync(database)) {
  fail('Error: no beads database found\nHint: run "bd init" to create a database here');
}
appendFileSync(
  '.beads/calls.jsonl',
  `${JSON.stringify({ command, args, cwd: process.cwd(), env: Object.keys(process.env).sort() })}\n`,
);
if (process.env.FAKE_BD_FAILS === command) {
  fail('Error: failed to open database: database is locked by another dolt process');
}
if (process.env.FAKE_BD_LEAVES === command) {
  const left = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)'], {
    stdio: 'inherit',
  });
  left.unref();
  writeFileSync('.beads/left', `${left.pid}`);
}
if (process.env.FAKE_BD_KILLED === command) {
  process.kill(process.pid, 'SIGKILL');
}
if (process.env.FAKE_BD_HANGS === command) {
  setInterval(() => undefined, 1_000);
  await new Promise(() => undefined);
}
const issues = JSON.parse(readFileSync(database, 'utf8'));
const [id = ''] = args;
const issue = issues.find(one => one.id === id);
const now = new Date().toISOString();

function save() {
  writeFileSync(database, JSON.stringify(issues));
  if (process.env.FAKE_BD_EXPORT === '1') {
    const lines = issues.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(one => JSON.stringify(one));
    writeFileSync('.beads/issues.jsonl', `${lines.join('\n')}\n`);
  }
}

const links = (one, type) =>
  (one.dependencies ?? []).filter(link => link.type === type).map(link => link.depends_on_id);
const isOpen = one => one !== undefined && one.status !== 'closed' && one.status !== 'pinned';

switch (command) {
  case 'show':
    if (issue === undefined) {
      fail(`Error: resolving ID ${id}: no issue found matching "${id}"`);
    }
    process.stdout.write(`${JSON.stringify([issue], null, 2)}\n`);
    break;
  case 'close': {
    if (issue === undefined) {
      fail(`Error: resolving ID ${id}: no issue found matching "${id}"`);
    }
    const parts = issues.filter(one => links(one, 'parent-child').includes(id) && isOpen(one));
    if (issue.issue_type === 'epic' && parts.length > 0) {
      fail(
        `cannot close epic ${id}: ${parts.length} open child issue(s); close children first or use --force to override`,
      );
    }
    const blockers = links(issue, 'blocks').filter(to => isOpen(issues.find(one => one.id === to)));
    if (blockers.length > 0) {
      fail(`cannot close ${id}: blocked by open issues [${blockers}] (use --force to override)`);
    }
    const reason = flag('reason') ?? 'Closed';
    Object.assign(issue, {
      status: 'closed',
      closed_at: now,
      updated_at: now,
      close_reason: reason,
    });
    save();
    process.stdout.write(`✓ Closed ${id}: ${reason}\n`);
    break;
  }
  case 'reopen':
    if (issue === undefined) {
      fail(`Error resolving ${id}: no issue found matching "${id}"`);
    }
    if (issue.status === 'open') {
      process.stderr.write(`${id} is already open\n`);
      break;
    }
    Object.assign(issue, { status: 'open', updated_at: now });
    delete issue.closed_at;
    delete issue.close_reason;
    save();
    process.stdout.write(`↻ Reopened ${id}\n`);
    break;
  case 'create': {
    const title = flag('title');
    if (!title) {
      fail('Error: title required (or use --file to create from markdown)');
    }
    const created = {
      ...{ id: `bd-${(issues.length + 1).toString(36)}x`, title },
      ...(flag('description') && { description: flag('description') }),
      ...{ status: 'open', priority: Number(flag('priority') ?? 2), issue_type: flag('type') },
      ...{ created_at: now, updated_at: now },
    };
    const from = flag('deps');
    if (from !== undefined) {
      const [type, to] = from.split(':');
      created.dependencies = [{ issue_id: created.id, depends_on_id: to, type, created_at: now }];
    }
    issues.push(created);
    save();
    process.stdout.write(`${JSON.stringify(created, null, 2)}\n`);
    break;
  }
  case 'export': {
    const lines = issues.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(one => JSON.stringify(one));
    writeFileSync(flag('o') ?? args[1], `${lines.join('\n')}\n`);
    process.stderr.write(`Exported ${issues.length} issues to ${args[1]}\n`);
    break;
  }
  default:
    fail(`Error: unknown command "${command}" for "bd"`);
}
