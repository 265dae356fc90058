// A stand-in for `bd`, the program of Beads, for the commands that Ralph calls. It is not `bd`: its database is a JSON
// file, `.beads/beads.db`. Its behavior is what was recorded of the real one (recordedBd.ts has each fact and its source),
// and in details that nobody has recorded what the sources of bd 1.0.5 say. It notes each call in `.beads/calls.jsonl`.
// FAKE_BD_EXPORT=1: `export.auto` is set. FAKE_BD_FAILS=<command>: another process holds the database in that command.
// FAKE_BD_FORGETS=<command>: it succeeds, and nothing has changed afterwards. FAKE_BD_HANGS=<command>: it never answers.
// FAKE_BD_LEAVES=<command>: it starts a process that keeps its output open and outlives it, with its pid in `.beads/left`.
// FAKE_BD_KILLED=<command>: somebody ends it.
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

const DATABASE = '.beads/beads.db';
const EXPORT_STATE = '.beads/export-state.json';
/** In ms. */
const EXPORT_INTERVAL = 60_000;
const NAMES = {
  show: [],
  close: ['reason', 'r'],
  reopen: ['reason', 'r'],
  create: ['title', 'description', 'type', 'priority', 'deps'],
  export: ['o', 'output'],
};
const TYPES = ['bug', 'feature', 'task', 'epic', 'chore', 'decision'];
const RELATIONS = ['blocks', 'parent-child', 'discovered-from', 'related', 'tracks', 'caused-by'];
const [command = '', ...args] = process.argv.slice(2);
const { FAKE_BD_EXPORT, FAKE_BD_FAILS, FAKE_BD_FORGETS, FAKE_BD_HANGS, FAKE_BD_KILLED } =
  process.env;
const hasEnvelope = process.env.BD_JSON_ENVELOPE === '1';
const isJson = args.includes('--json');

const json = value => `${JSON.stringify(value, null, 2)}\n`;

function printJson(value) {
  const isList = Array.isArray(value);
  const bare = isList ? value : { ...value, schema_version: 1 };
  process.stdout.write(json(hasEnvelope ? { data: value, schema_version: 1 } : bare));
}

/** Plain text, whatever was asked for. */
function refuse(...lines) {
  process.stderr.write(`${lines.join('\n')}\n`);
  process.exit(1);
}

function fail(message) {
  if (isJson) {
    refuse(json({ error: message, schema_version: 1 }).trimEnd());
  }
  refuse(`Error: ${message}`);
}

function hint() {
  process.stderr.write(
    'warning: beads.role not configured (GH#2950).\n  Fix: git config beads.role maintainer\n  Or:  git config beads.role contributor\n',
  );
}

const ids = [];
const flags = {};

function readArguments() {
  if (NAMES[command] === undefined) {
    refuse(`Error: unknown command "${command}" for "bd"`, "Run 'bd --help' for usage.");
  }
  const rest = args.filter(arg => arg !== '--json');
  while (rest.length > 0) {
    const arg = rest.shift();
    const [, dashes, name, joined] = /^(--?)([a-z-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === undefined) {
      ids.push(arg);
    } else if (NAMES[command].includes(name)) {
      flags[name] = joined ?? rest.shift();
    } else {
      refuse(`Error: unknown flag: ${dashes}${name}`, 'Usage:', `  bd ${command} [flags]`);
    }
  }
}

readArguments();
if (!existsSync(DATABASE)) {
  refuse(
    'Error: no beads database found',
    "Hint: run 'bd where' to inspect the resolved workspace, or 'bd init' to create a new database",
    '      or set BEADS_DIR to point to your .beads directory',
  );
}
appendFileSync(
  '.beads/calls.jsonl',
  `${JSON.stringify({ command, args, cwd: process.cwd(), env: Object.keys(process.env).sort() })}\n`,
);
if (FAKE_BD_FAILS === command) {
  refuse(
    'Error: failed to open database: failed to ping Dolt database: the database is locked by another dolt process',
  );
}
if (process.env.FAKE_BD_LEAVES === command) {
  const left = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)'], {
    stdio: 'inherit',
  });
  left.unref();
  writeFileSync('.beads/left', `${left.pid}`);
}
if (FAKE_BD_KILLED === command) {
  process.kill(process.pid, 'SIGKILL');
}
if (FAKE_BD_HANGS === command) {
  setInterval(() => undefined, 1_000);
  await new Promise(() => undefined);
}

const issues = JSON.parse(readFileSync(DATABASE, 'utf8'));
const [id = ''] = ids;
const issue = issues.find(one => one.id === id);
const now = new Date().toISOString();
const seconds = now.replace(/\.\d+Z$/, 'Z');

const links = (one, type) =>
  (one.dependencies ?? []).filter(link => link.type === type).map(link => link.depends_on_id);
const isOpen = one => one !== undefined && one.status !== 'closed' && one.status !== 'pinned';
const counts = one => ({
  dependency_count: one.dependencies?.length ?? 0,
  dependent_count: issues.filter(other => links(other, 'blocks').includes(one.id)).length,
  comment_count: 0,
});

function exported() {
  const order = (a, b) =>
    a.priority - b.priority ||
    `${b.created_at}`.localeCompare(`${a.created_at}`) ||
    a.id.localeCompare(b.id);
  return issues
    .toSorted(order)
    .map(one => `${JSON.stringify({ _type: 'issue', ...one, ...counts(one) })}\n`)
    .join('');
}

function save() {
  if (FAKE_BD_FORGETS === command) {
    return;
  }
  writeFileSync(DATABASE, JSON.stringify(issues));
  const last = existsSync(EXPORT_STATE) ? JSON.parse(readFileSync(EXPORT_STATE, 'utf8')) : {};
  if (FAKE_BD_EXPORT === '1' && Date.now() - Date.parse(last.timestamp ?? 0) >= EXPORT_INTERVAL) {
    writeFileSync('.beads/issues.jsonl', exported());
    writeFileSync(EXPORT_STATE, json({ timestamp: now, issues: issues.length }));
  }
}

/** With the other issues in place of the relations. */
function shown(one) {
  const { dependencies = [], ...rest } = one;
  const others = dependencies.map(({ depends_on_id: to, type }) => {
    const { title, status, priority } = issues.find(other => other.id === to) ?? {};
    return { id: to, title, status, priority, dependency_type: type };
  });
  return { ...rest, ...(others.length > 0 && { dependencies: others }), ...counts(one) };
}

function actor() {
  const { BEADS_ACTOR, USER = 'unknown' } = process.env;
  const git = () => spawnSync('git', ['config', 'user.name'], { encoding: 'utf8' }).stdout?.trim();
  return BEADS_ACTOR || git() || USER;
}

/** Why bd does not close it. */
function refusal() {
  if (issue.status === 'closed') {
    return;
  }
  if (issue.status === 'pinned') {
    return `cannot modify pinned issue ${id} (use --force to override)`;
  }
  if (issue.assignee !== undefined && issue.assignee !== actor()) {
    return `cannot close ${id}: assignee is "${issue.assignee}", actor is "${actor()}"; reclaim or use --force to override`;
  }
  const parts = issues.filter(one => links(one, 'parent-child').includes(id) && isOpen(one));
  if (issue.issue_type === 'epic' && parts.length > 0) {
    return `cannot close epic ${id}: ${parts.length} open child issue(s); close children first or use --force to override`;
  }
  const blockers = links(issue, 'blocks').filter(to => isOpen(issues.find(one => one.id === to)));
  if (blockers.length > 0) {
    return `cannot close ${id}: blocked by open issues [${blockers.join(' ')}] (use --force to override)`;
  }
}

const commands = {
  show() {
    if (issue === undefined) {
      process.stderr.write(`Error fetching ${id}: no issue found matching "${id}"\n`);
      if (isJson) {
        printJson({ error: 'no issues found matching the provided IDs' });
      }
      process.exit(1);
    }
    if (isJson) {
      printJson([shown(issue)]);
    } else {
      process.stdout.write(`${id} · ${issue.title}   [P${issue.priority} · ${issue.status}]\n`);
    }
  },

  close() {
    hint();
    if (issue === undefined) {
      fail(`resolving ID ${id}: no issue found matching "${id}"`);
    }
    const why = refusal();
    if (why !== undefined) {
      refuse(why);
    }
    const reason = flags.reason ?? flags.r ?? 'Closed';
    if (issue.status !== 'closed') {
      const dates = { closed_at: seconds, updated_at: seconds };
      Object.assign(issue, { status: 'closed', ...dates, close_reason: reason });
      save();
    }
    if (isJson) {
      printJson([issue]);
    } else {
      process.stdout.write(`✓ Closed ${id} — ${issue.title}: ${reason}\n`);
    }
  },

  reopen() {
    hint();
    if (issue === undefined) {
      refuse(`Error resolving ${id}: no issue found matching "${id}"`);
    }
    if (issue.status === 'open') {
      process.stderr.write(`${id} is already open\n`);
      return;
    }
    const reason = flags.reason ?? flags.r;
    Object.assign(issue, { status: 'open', updated_at: seconds });
    delete issue.closed_at;
    delete issue.close_reason;
    save();
    if (isJson) {
      printJson([issue]);
    } else {
      process.stdout.write(`↻ Reopened ${id}${reason === undefined ? '' : `: ${reason}`}\n`);
    }
  },

  create() {
    const { deps, description, priority = '2', title, type = 'task' } = flags;
    if (!title) {
      fail('title required (or use --file to create from markdown)');
    }
    if (!/^P?[0-4]$/.test(priority)) {
      fail(`invalid priority "${priority}"`);
    }
    if (!TYPES.includes(type)) {
      fail(`invalid issue type: ${type}`);
    }
    const [relation, to] = deps?.split(':') ?? [];
    if (relation !== undefined && !RELATIONS.includes(relation)) {
      fail(`unknown dependency type "${relation}"; valid types: ${RELATIONS.join(', ')}`);
    }
    hint();
    const prefix = issues[0]?.id.replace(/-[^-]*$/, '') ?? 'bd';
    const created = {
      ...{ id: `${prefix}-${(issues.length + 1).toString(36)}x`, title },
      ...(description && { description }),
      ...{ status: 'open', priority: Number(priority.replace('P', '')), issue_type: type },
      ...{ created_at: now, created_by: 'unknown', updated_at: now },
    };
    if (relation !== undefined) {
      const link = { issue_id: created.id, depends_on_id: to, type: relation };
      created.dependencies = [{ ...link, created_at: now }];
    }
    issues.push(created);
    save();
    if (isJson) {
      printJson(created);
    } else {
      process.stdout.write(`✓ Created issue: ${created.id} — ${title}\n`);
    }
  },

  export() {
    const file = flags.o ?? flags.output;
    if (file === undefined) {
      process.stdout.write(exported());
      return;
    }
    writeFileSync(file, exported());
    process.stderr.write(`Exported ${issues.length} issues to ${file}\n`);
  },
};
commands[command]();
