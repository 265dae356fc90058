import { openStories, type Step, until, Workspace } from './ralph.ts';
import { heard, type Scenario } from './scenario.ts';
import { asks } from './scenarioSteps.ts';

type Calls = Readonly<Record<string, readonly (readonly Step[])[]>>;

/** A correct agent that writes this line into a file that all of them change. */
const writesLine = (storyId: string, line: string): readonly Step[] => [
  { write: ['shared.txt', `one\n${line}\nthree\n`] },
  { tick: storyId },
  { commit: `feat: ${storyId}` },
  { result: [`${storyId} is done.`] },
];

/** A workspace with a committed file, and two stories. */
async function withSharedFile(t: Parameters<Scenario>[0], stories: number): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories: openStories(stories), hasPointers: true });
  await workspace.write('shared.txt', 'one\ntwo\nthree\n');
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'Files of the project');
  return workspace;
}

const ended = (workspace: Workspace, count: number) =>
  until(
    `the end of iteration ${count}`,
    async () => (await workspace.events('iteration.ended')).length === count,
  );

/**
 * Two agents work at once. So that the journal is the same each time, the second one starts when the first one has
 * begun, and they finish one after the other.
 */
async function twoAtOnce(workspace: Workspace, calls: Calls): Promise<void> {
  const cli = workspace.scriptOf(calls, '--isolate');
  await heard(workspace, 'I begin US-001.');
  await workspace.cli('lanes', '2').finished;
  await heard(workspace, 'I begin US-002.');
  await workspace.note('first');
  await ended(workspace, 1);
  await workspace.note('second');
  await cli.finished;
}

/** Runs with several agents at once, each in a place of its own. */
export const LANE_SCENARIOS: Readonly<Record<string, Scenario>> = {
  lanes: async t => {
    const workspace = await withSharedFile(t, 2);
    await twoAtOnce(workspace, {
      'US-001': [
        [{ text: 'I begin US-001.' }, { wait: 'first' }, ...writesLine('US-001', 'FIRST')],
      ],
      'US-002': [
        [{ text: 'I begin US-002.' }, { wait: 'second' }, ...writesLine('US-002', 'SECOND')],
        writesLine('US-002', 'BOTH'),
      ],
    });
    return workspace;
  },
  lanesAsk: async t => {
    const workspace = await withSharedFile(t, 2);
    await twoAtOnce(workspace, {
      'US-001': [[{ text: 'I begin US-001.' }, { wait: 'first' }, ...asks]],
      'US-002': [
        [{ text: 'I begin US-002.' }, { wait: 'second' }, ...writesLine('US-002', 'SECOND')],
      ],
    });
    return workspace;
  },
  /** The agent of the first story asks while it finishes it, and the run is complete before anybody answers. */
  lanesAskedLast: async t => {
    const workspace = await withSharedFile(t, 2);
    await twoAtOnce(workspace, {
      'US-001': [
        [
          ...[{ text: 'I begin US-001.' }, { wait: 'first' }, { write: ['own.txt', 'mine\n'] }],
          ...[{ tick: 'US-001' }, { commit: 'feat: US-001' }, ...asks],
        ],
      ],
      'US-002': [
        [{ text: 'I begin US-002.' }, { wait: 'second' }, ...writesLine('US-002', 'SECOND')],
      ],
    });
    return workspace;
  },
  lanesHeld: async t => {
    const workspace = await withSharedFile(t, 1);
    await workspace.write('shared.txt', 'one\nnot committed\nthree\n');
    await workspace.scriptOf({ 'US-001': [writesLine('US-001', 'FIRST')] }, '--isolate').finished;
    return workspace;
  },
};

/** Of a hundred stories, some conflict with others, and some have red checks at first. */
const manyCalls: Calls = {
  ...Object.fromEntries(
    openStories(100)
      .filter((_, index) => index % 20 === 4)
      .map(({ id }) => [id, [writesLine(id, id), ['work']]]),
  ),
  ...Object.fromEntries(
    openStories(100)
      .filter((_, index) => index % 25 === 7)
      .map(({ id }) => [
        id,
        [
          [{ write: ['red', ''] }, 'work'],
          [{ delete: 'red' }, 'work'],
        ],
      ]),
  ),
};

/** Runs that are too long for tests that look at each of their moments, recorded without what agents say. */
export const LONG_SCENARIOS: Readonly<Record<string, Scenario>> = {
  manyLanes: async t => {
    const workspace = await withSharedFile(t, 100);
    await workspace.scriptOf(
      manyCalls,
      ...['--lanes', '16', '--verify', 'test ! -e red', '--max-iterations', '200'],
    ).finished;
    return workspace;
  },
};
