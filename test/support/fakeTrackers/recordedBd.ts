/**
 * Behavior of a real `bd` that somebody has recorded, for the commands that Ralph calls. The stand-in (bd.mjs) does the
 * same: test/process/recordedBd.test.ts. What only the sources of bd say is not here.
 */
export interface RecordedFact {
  readonly fact: string;
  /** Where it is recorded, and of which version. */
  readonly from: string;
  /** What the database has before. Default: {@link ONE}. `undefined`: there is no database. */
  readonly issues?: readonly RecordedIssue[] | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Calls whose outcome does not matter here. */
  readonly before?: readonly (readonly string[])[];
  readonly call: readonly string[];
  readonly exit: number;
  /** A text: the whole output without the line break at its end. A value: JSON that has at least this. */
  readonly stdout?: string | RegExp | object;
  readonly stderr?: string | RegExp;
  /** What the exported file has afterwards, line by line, at least. `undefined`: there is no file. */
  readonly file?: readonly object[] | undefined;
  /** What `bd show --json` has afterwards, at least. A key that is `undefined` is absent. */
  readonly after?: object;
}

export interface RecordedIssue {
  readonly id: string;
  readonly [key: string]: unknown;
}

/** Scripts and tests of bd that run it, June 2026, after bd 1.0.5. */
const OWN = 'steveyegge/beads@fbcee6c';
const CLOSES = 'mboogerd/computenet@80b5e18 doc/spike/bds0/claim-c-close-replication.md (bd 1.1.2)';
const MEASURED =
  'addicted2ai/AddictedtoAI@e9ce346 openspec/changes/two-desks-work-orders-and-trains/evidence/bd-measurements.md (bd 1.2.2)';
const CONTRACT =
  'brianevanmiller/beadcrumbs@608130c docs/2026-08-28-beads-json-contract-research.md (bd 1.2.2)';
const issue = (number: number, more = '') => `gastownhall/beads#${number}${more}`;

const opened = (id: string, title: string, more: object = {}): RecordedIssue => ({
  ...{ id, title, status: 'open', priority: 2, issue_type: 'task' },
  ...{ created_at: '2026-08-13T16:55:31Z', updated_at: '2026-08-13T16:55:31Z', ...more },
});
const link = (id: string, to: string, type: string) => ({
  dependencies: [{ issue_id: id, depends_on_id: to, type, created_at: '2026-08-13T18:57:14Z' }],
});

export const ONE: readonly RecordedIssue[] = [opened('bdsa-dow', 'Plain seeded task in bdsa')];
const CLOSED: readonly RecordedIssue[] = [
  opened('bdsa-dow', 'Plain seeded task in bdsa', {
    ...{ status: 'closed', closed_at: '2026-08-13T16:56:11Z', close_reason: 'done' },
  }),
];
/** Two closes that bd refuses, and one of a parent that is no epic. */
const GUARDED: readonly RecordedIssue[] = [
  opened('bdsa-9vd', 'C2 parent P', { issue_type: 'epic' }),
  opened('bdsa-zwu', 'C2 open child K', link('bdsa-zwu', 'bdsa-9vd', 'parent-child')),
  opened('bdsa-4h1', 'C2 blocked Q', link('bdsa-4h1', 'bdsa-cvj', 'blocks')),
  opened('bdsa-cvj', 'C2 open blocker R'),
  opened('bdsa-82z', 'C2 probe: task parent P2'),
  opened('bdsa-bl8', 'C2 probe: open child K2', link('bdsa-bl8', 'bdsa-82z', 'parent-child')),
];
const WARNING = /^warning: beads\.role not configured \(GH#2950\)\./;

export const RECORDED: readonly RecordedFact[] = [
  {
    fact: 'show --json prints an array, also for one issue, without schema_version',
    from: `${MEASURED}, section 1; ${CONTRACT}; ${issue(2506, ' (bd 0.59)')}`,
    call: ['show', 'bdsa-dow', '--json'],
    exit: 0,
    stdout: [{ id: 'bdsa-dow', status: 'open', priority: 2, schema_version: undefined }],
  },
  {
    fact: 'keys without a value are absent',
    from: `${MEASURED}, section 1`,
    call: ['show', 'bdsa-dow', '--json'],
    exit: 0,
    stdout: [{ description: undefined, closed_at: undefined, dependencies: undefined }],
  },
  {
    fact: 'dependencies in show are the other issues',
    from: CONTRACT,
    issues: GUARDED,
    call: ['show', 'bdsa-4h1', '--json'],
    exit: 0,
    stdout: [{ dependencies: [{ id: 'bdsa-cvj', status: 'open', dependency_type: 'blocks' }] }],
  },
  {
    fact: 'show of an unknown id: prose on stderr, JSON on stdout',
    from: `${CONTRACT}; ${MEASURED}, section 5`,
    call: ['show', '--json', 'bdc-9999'],
    exit: 1,
    stdout: { error: 'no issues found matching the provided IDs', schema_version: 1 },
    stderr: 'Error fetching bdc-9999: no issue found matching "bdc-9999"',
  },
  {
    fact: 'show of an unknown id without --json prints nothing on stdout',
    from: issue(5259),
    call: ['show', 'hq-gea4h'],
    exit: 1,
    stdout: '',
    stderr: 'Error fetching hq-gea4h: no issue found matching "hq-gea4h"',
  },
  {
    fact: 'without a database, it is plain text, also with --json',
    from: `${CONTRACT}; ${issue(6108)}`,
    issues: undefined,
    call: ['show', 'bdsa-dow', '--json'],
    exit: 1,
    stdout: '',
    stderr: /^Error: no beads database found\nHint: /,
  },
  {
    fact: 'with a database that another process holds',
    from: issue(1661, ' (bd 0.49.6)'),
    env: { FAKE_BD_FAILS: 'show' },
    call: ['show', 'bdsa-dow', '--json'],
    exit: 1,
    stderr:
      'Error: failed to open database: failed to ping Dolt database: the database is locked by another dolt process',
  },
  {
    fact: 'with BD_JSON_ENVELOPE=1, which is to be the default of bd 2.0, JSON is in an envelope',
    from: `${OWN} docs/JSON_SCHEMA.md`,
    env: { BD_JSON_ENVELOPE: '1' },
    call: ['show', 'bdsa-dow', '--json'],
    exit: 0,
    stdout: { schema_version: 1, data: [{ id: 'bdsa-dow' }] },
  },
  {
    fact: 'close says so with the title, and the reason is kept to the byte',
    from: `${CLOSES}, C1a; ${MEASURED}, section 3`,
    call: ['close', 'bdsa-dow', '--reason', 'done'],
    exit: 0,
    stdout: '✓ Closed bdsa-dow — Plain seeded task in bdsa: done',
    after: { status: 'closed', close_reason: 'done', closed_at: /Z$/ },
  },
  {
    fact: 'close has a reason of its own without one; -r is the short form',
    from: `${OWN} cmd/bd/close_embedded_test.go (close_default_reason, close_with_reason_short); gastownhall/gascity#1614`,
    before: [
      ['close', 'bdsa-dow', '-r', 'first'],
      ['reopen', 'bdsa-dow'],
    ],
    call: ['close', 'bdsa-dow'],
    exit: 0,
    stdout: '✓ Closed bdsa-dow — Plain seeded task in bdsa: Closed',
    after: { close_reason: 'Closed' },
  },
  {
    fact: 'close --json prints an array',
    from: CONTRACT,
    call: ['close', 'bdsa-dow', '--json', '--reason', 'done'],
    exit: 0,
    stdout: [{ id: 'bdsa-dow', status: 'closed', close_reason: 'done', closed_at: /Z$/ }],
  },
  {
    fact: 'close of a closed issue succeeds, says the new reason, and changes nothing',
    from: `${issue(4816, ' (bd 1.2.2)')}; ${MEASURED}, section 3`,
    issues: CLOSED,
    call: ['close', 'bdsa-dow', '--reason', 'another'],
    exit: 0,
    stdout: '✓ Closed bdsa-dow — Plain seeded task in bdsa: another',
    after: { status: 'closed', close_reason: 'done', closed_at: '2026-08-13T16:56:11Z' },
  },
  {
    fact: 'close of an unknown id fails',
    from: `gastownhall/gascity#2536; ${OWN} cmd/bd/testdata/close_errors.txt`,
    call: ['close', 'gc-144816', '--reason', 'empty bead cleanup'],
    exit: 1,
    stdout: '',
    stderr: /^Error: resolving ID gc-144816: no issue found matching "gc-144816"$/m,
  },
  {
    fact: 'an epic with an open child is not closed',
    from: `${CLOSES}, C2`,
    issues: GUARDED,
    call: ['close', 'bdsa-9vd', '--reason', 'attempt with open child'],
    exit: 1,
    stdout: '',
    stderr:
      /^cannot close epic bdsa-9vd: 1 open child issue\(s\); close children first or use --force to override$/m,
    after: { status: 'open', closed_at: undefined },
  },
  {
    fact: 'another parent with an open child is closed',
    from: `${CLOSES}, C2. Later versions refuse it: ${issue(3771)}`,
    issues: GUARDED,
    call: ['close', 'bdsa-82z', '--reason', 'attempt with open child, task parent'],
    exit: 0,
    stdout: '✓ Closed bdsa-82z — C2 probe: task parent P2: attempt with open child, task parent',
  },
  {
    fact: 'a blocked issue is not closed, and --json does not make the refusal JSON',
    from: `${CLOSES}, C2`,
    issues: GUARDED,
    call: ['close', 'bdsa-4h1', '--json', '--reason', 'attempt while blocked'],
    exit: 1,
    stdout: '',
    stderr:
      /^cannot close bdsa-4h1: blocked by open issues \[bdsa-cvj\] \(use --force to override\)$/m,
    after: { status: 'open' },
  },
  {
    fact: 'a pinned issue is not closed',
    from: `${OWN} cmd/bd/close_embedded_test.go (close_pinned_refuses_without_force)`,
    issues: [opened('bdsa-dow', 'Pinned guard', { status: 'pinned' })],
    call: ['close', 'bdsa-dow'],
    exit: 1,
    after: { status: 'pinned' },
  },
  {
    fact: 'an issue of somebody else is not closed',
    from: issue(6648, ' (bd 1.3.0)'),
    issues: [opened('sm-c7h', "repro C (peer's)", { assignee: 'somebody-else' })],
    env: { BEADS_ACTOR: 'repro' },
    call: ['close', 'sm-c7h', '-r', 'single'],
    exit: 1,
    stdout: '',
    stderr:
      /^cannot close sm-c7h: assignee is "somebody-else", actor is "repro"; reclaim or use --force to override$/m,
    after: { status: 'open' },
  },
  {
    fact: 'a relation that does not block holds back no close',
    from: `${OWN} cmd/bd/protocol/close_guard_test.go (CloseGuardRespectsDepType)`,
    issues: [
      opened('bdsa-a', 'Issue A', link('bdsa-a', 'bdsa-b', 'caused-by')),
      opened('bdsa-b', 'Issue B (open)'),
    ],
    call: ['close', 'bdsa-a'],
    exit: 0,
    after: { status: 'closed' },
  },
  {
    fact: 'hints are on stderr, with success too, and never on stdout',
    from: `${MEASURED}, section 8`,
    call: ['close', 'bdsa-dow', '--json'],
    exit: 0,
    stdout: [{ id: 'bdsa-dow' }],
    stderr: WARNING,
  },
  {
    fact: 'a close that is said to have succeeded may not last',
    from: 'gastownhall/gascity#2605 and #2079 (bd 1.0.4); gastownhall/beads#3734',
    env: { FAKE_BD_FORGETS: 'close' },
    call: ['close', 'bdsa-dow', '--reason', 'duplicate'],
    exit: 0,
    stdout: /^✓ Closed bdsa-dow/,
    after: { status: 'open' },
  },
  {
    fact: 'reopen removes the date and the reason',
    from: `${MEASURED}, section 3; ${issue(5593, ' (bd 1.1.2)')}`,
    issues: CLOSED,
    call: ['reopen', 'bdsa-dow'],
    exit: 0,
    stdout: '↻ Reopened bdsa-dow',
    after: { status: 'open', closed_at: undefined, close_reason: undefined },
  },
  {
    fact: 'reopen says the reason',
    from: issue(5593, ' (bd 1.1.2)'),
    issues: CLOSED,
    call: ['reopen', 'bdsa-dow', '--reason', 'REOPEN_REASON_MARKER'],
    exit: 0,
    stdout: '↻ Reopened bdsa-dow: REOPEN_REASON_MARKER',
  },
  {
    fact: 'reopen of an open issue succeeds and changes nothing',
    from: `${OWN} cmd/bd/reopen_embedded_test.go (reopen_already_open)`,
    call: ['reopen', 'bdsa-dow'],
    exit: 0,
    stdout: '',
    stderr: /already open/,
    after: { status: 'open' },
  },
  {
    fact: 'reopen of an unknown id fails',
    from: `${OWN} cmd/bd/reopen_embedded_test.go (reopen_nonexistent)`,
    call: ['reopen', 'ro-nonexistent999'],
    exit: 1,
    stderr: /no issue found/,
  },
  {
    fact: 'create --json prints one object, whose id has the prefix of the others',
    from: `${MEASURED}, section 1; ${CONTRACT}; ${OWN} cmd/bd/create_embedded_test.go (basic)`,
    call: ['create', '--title=Test crumb', '--type=task', '--json', '--description=body'],
    exit: 0,
    stdout: {
      ...{ id: /^bdsa-[0-9a-z]+$/, title: 'Test crumb', description: 'body', status: 'open' },
      ...{ priority: 2, issue_type: 'task', schema_version: 1, created_at: /\.\d+Z$/ },
    },
  },
  {
    fact: 'a priority is a number in JSON, and the default type is task',
    from: `${MEASURED}, section 1; ${OWN} cmd/bd/create_embedded_test.go (basic)`,
    call: ['create', '--title=Other', '--priority=P3', '--json'],
    exit: 0,
    stdout: { priority: 3, issue_type: 'task' },
  },
  {
    fact: 'create without --json says the id and the title',
    from: `${OWN} cmd/bd/testdata/create.txt`,
    call: ['create', '--title=Test issue'],
    exit: 0,
    stdout: /^✓ Created issue: bdsa-/,
  },
  {
    fact: 'discovered-from points from the new issue to the other one',
    from: `${OWN} cmd/bd/create_embedded_test.go (discovered_from_dep)`,
    env: { FAKE_BD_EXPORT: '1' },
    call: ['create', '--title=Found', '--deps=discovered-from:bdsa-dow', '--json'],
    exit: 0,
    file: [
      {
        title: 'Found',
        dependencies: [{ depends_on_id: 'bdsa-dow', type: 'discovered-from' }],
      },
      { id: 'bdsa-dow', dependencies: undefined },
    ],
  },
  {
    fact: 'create without a title fails',
    from: `${OWN} cmd/bd/testdata/create_errors.txt`,
    call: ['create', '--type=task'],
    exit: 1,
    stderr: /title required/,
  },
  {
    fact: 'create with an unknown type fails',
    from: `${OWN} cmd/bd/testdata/create_errors.txt`,
    call: ['create', '--title=Test', '--type', 'invalid-type'],
    exit: 1,
    stderr: /invalid issue type/,
  },
  {
    fact: 'create with an unknown priority fails',
    from: `${OWN} cmd/bd/testdata/create_errors.txt`,
    call: ['create', '--title=Test', '--priority', '99'],
    exit: 1,
    stderr: /invalid priority/,
  },
  {
    fact: 'create with an unknown relation fails',
    from: `${OWN} cmd/bd/create_embedded_test.go (unknown_dep_type_rejected)`,
    call: ['create', '--title=Bad', '--deps', 'bogus-type:bdsa-dow'],
    exit: 1,
    stderr: /unknown dependency type/,
  },
  {
    fact: 'errors of create are JSON on stderr with --json',
    from: `${OWN} docs/JSON_SCHEMA.md, cmd/bd/protocol/json_contract_test.go`,
    call: ['create', '--json'],
    exit: 1,
    stdout: '',
    stderr: /^\{\n {2}"error": "title required[^\n]*,\n {2}"schema_version": 1\n\}$/,
  },
  {
    fact: 'export -o writes a line per issue, closed ones too, with _type',
    from: `${CLOSES}, C1a; ${issue(3271)}`,
    issues: [...CLOSED, ...GUARDED.slice(2, 4)],
    call: ['export', '-o', '.beads/issues.jsonl'],
    exit: 0,
    stdout: '',
    stderr: /Exported 3 issues to \.beads\/issues\.jsonl/,
    file: [
      {
        ...{ _type: 'issue', id: 'bdsa-4h1', dependency_count: 1 },
        ...link('bdsa-4h1', 'bdsa-cvj', 'blocks'),
      },
      { _type: 'issue', id: 'bdsa-cvj' },
      { _type: 'issue', id: 'bdsa-dow', status: 'closed', close_reason: 'done' },
    ],
  },
  {
    fact: 'export knows no --status',
    from: issue(4853, ' (bd 1.1.0)'),
    call: ['export', '--status', 'open'],
    exit: 1,
    stdout: '',
    stderr: /^Error: unknown flag: --status/,
  },
  {
    fact: 'an unknown command fails',
    from: issue(1338),
    call: ['block', 'scanner-5qi.1', '--by', 'scanner-pfh'],
    exit: 1,
    stdout: '',
    stderr: /^Error: unknown command "block" for "bd"/,
  },
  {
    fact: 'a change does not write the file unless export.auto is set',
    from: `${issue(4063)}; ${OWN} CHANGELOG.md (1.0.5)`,
    call: ['close', 'bdsa-dow'],
    exit: 0,
    file: undefined,
  },
  {
    fact: 'with export.auto, the first change writes the file',
    from: `${OWN} cmd/bd/testdata/auto_export.txt; weselow/beads-web#7 (bd 1.0.2)`,
    env: { FAKE_BD_EXPORT: '1' },
    call: ['close', 'bdsa-dow'],
    exit: 0,
    file: [{ _type: 'issue', id: 'bdsa-dow', status: 'closed' }],
  },
  {
    fact: 'with export.auto, further changes within a minute do not',
    from: 'weselow/beads-web#7 (bd 1.0.2)',
    env: { FAKE_BD_EXPORT: '1' },
    before: [['create', '--title=First issue', '--priority=3']],
    call: ['close', 'bdsa-dow'],
    exit: 0,
    file: [{ id: 'bdsa-dow', status: 'open' }, { title: 'First issue' }],
  },
];
