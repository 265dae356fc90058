import { isAlmost } from '../../../base/editDistance.ts';
import { remembered } from '../../../base/remembered.ts';
import { DONE_WORDS, LIST_KEYS, PARKED_WORDS } from './prdKeys.ts';

/** What the key of a list or an object says about its entries: the same in every format. */

/** Words that name several stories. */
const STORIES = new Set([
  ...['stories', 'tasks', 'features', 'bugs', 'todos', 'tickets', 'chores', 'backlog'],
]);
/** Words that name one, or none: an entry below them must have a state. */
const WORK = new Set([
  ...STORIES,
  ...['story', 'task', 'feature', 'bug', 'todo', 'ticket', 'issues', 'work'],
]);
/** Lists of this name may have the product in them, and not its stories: an entry must have a state. */
const WITH_STATES: ReadonlySet<string> = new Set(['features', 'chores']);
/** Whole keys of lists that say themselves how far their stories are. */
const COLUMNS = new Set(['todo', 'doing', 'inprogress', 'pending', 'upcoming', 'remaining']);
/** Keys of lists of work, with typing errors as well. */
const WORK_LISTS = [...LIST_KEYS, ...STORIES, 'phases', 'todo'].map(plainKey);

/** Words for entries that are groups: they have names and states, and the stories are inside. */
const GROUPS = new Set([
  ...['phases', 'epics', 'milestones', 'sprints', 'stages', 'waves', 'groups', 'sections'],
  ...['tracks', 'workstreams', 'iterations', 'roadmap', 'tags', 'batches', 'themes', 'initiatives'],
]);

/** Words for one group. A list below one may have its stories, but an object is the group. */
const ONE_GROUP = new Set([
  ...['phase', 'epic', 'milestone', 'sprint', 'stage', 'wave', 'iteration', 'mvp'],
]);

/** States of work that is over; a second pass is not. */
const STATES = [...DONE_WORDS, ...PARKED_WORDS].filter(word => word !== 'pass');
/** Words for work that is done or put aside, and for copies: nobody wants it to be done now. */
const PAST = new Set([
  ...STATES.filter(state => !state.includes(' ')),
  ...['archive', 'archives', 'old', 'past', 'previous', 'history', 'historical'],
  ...['removed', 'rejected', 'parked', 'duplicates', 'deprecated', 'deleted'],
  ...['future', 'later', 'scope', 'icebox', 'wishlist', 'ideas'],
  ...['example', 'examples', 'sample', 'samples', 'template', 'templates', 'backup', 'backups'],
  ...['snapshot', 'snapshots', 'log', 'logs', 'changelog', 'journal', 'original'],
  ...['related', 'linked', 'reference', 'references'],
]);
/** The same in several words. */
const PAST_PHRASES = [...STATES.filter(state => state.includes(' ')), 'non goals'].map(
  phrase => ` ${phrase.replace("'", ' ')} `,
);

/** Words for other things with ids, names and states. */
const OTHERS = new Set([
  // People and programs.
  ...['agent', 'agents', 'worker', 'workers', 'team', 'teams', 'member', 'members', 'owner'],
  ...['owners', 'people', 'users', 'stakeholder', 'stakeholders', 'author', 'authors', 'personas'],
  ...['reviewers', 'assignees', 'roles', 'tool', 'tools', 'hook', 'hooks', 'script', 'scripts'],
  // Settings.
  ...['meta', 'metadata', 'config', 'configuration', 'settings', 'options', 'environment'],
  ...['environments', 'env', 'label', 'labels', 'status', 'statuses', 'priorities', 'schema'],
  ...['schemas', 'definitions', 'types', 'rules', 'policies', 'constraints', 'permissions'],
  // Checks.
  ...['check', 'checks', 'checkpoint', 'checkpoints', 'gate', 'gates', 'test', 'tests', 'testing'],
  ...['verification', 'verifications', 'validation', 'validations', 'criteria', 'criterion'],
  ...['quality', 'approval', 'approvals', 'review', 'reviews', 'audit', 'audits', 'evaluation'],
  ...['qa', 'lint', 'typecheck', 'entry', 'exit', 'demo', 'monitor', 'monitors', 'monitoring'],
  ...['acceptance', 'ci', 'pipeline', 'pipelines', 'build', 'builds', 'job', 'jobs'],
  // Plans, thoughts and what is written down.
  ...['risk', 'risks', 'decision', 'decisions', 'question', 'questions', 'assumption'],
  ...['assumptions', 'blocker', 'blockers', 'prerequisite', 'prerequisites', 'dependency'],
  ...['dependencies', 'goal', 'goals', 'objective', 'objectives', 'requirement', 'requirements'],
  ...['hypothesis', 'hypotheses', 'experiment', 'experiments', 'architecture', 'adr', 'adrs'],
  ...['rollback', 'rollbacks', 'fallback', 'fallbacks', 'contingency', 'contingencies', 'context'],
  ...['note', 'notes', 'comment', 'comments', 'analysis', 'complexity', 'document', 'documents'],
  ...['documentation', 'docs', 'handoff', 'handoffs', 'learnings', 'findings', 'lessons'],
  // Parts of the product, and what is delivered.
  ...['component', 'components', 'endpoint', 'endpoints', 'integration', 'integrations'],
  ...['service', 'services', 'module', 'modules', 'package', 'packages', 'file', 'files'],
  ...['resource', 'resources', 'infra', 'infrastructure', 'mcp'],
  ...['deliverable', 'deliverables', 'artifact', 'artifacts', 'output', 'outputs', 'release'],
  ...['releases', 'version', 'versions', 'deployment', 'deployments', 'migrations'],
  // Traces of the work.
  ...['last', 'known', 'variables', 'inputs', 'servers', 'models', 'session', 'sessions', 'run'],
  ...['runs', 'event', 'events', 'activity', 'metrics', 'summary'],
  ...['statistics', 'stats', 'counts', 'totals', 'progress', 'tracking', 'tracker', 'github'],
  ...['gitlab', 'jira', 'linear', 'commit', 'commits', 'branch', 'branches', 'pr', 'prs'],
  ...['request', 'requests', 'workflow', 'workflows', 'checklist', 'checklists'],
]);

/** What a key says. */
interface ListName {
  readonly isList: boolean;
  readonly isWork: boolean;
  readonly isStories: boolean;
  readonly isGroups: boolean;
  readonly isOneGroup: boolean;
  readonly isPast: boolean;
  readonly isOther: boolean;
}

const nameOfList = remembered((key): ListName => {
  const words = wordsOf(key);
  const has = (set: ReadonlySet<string>) => words.some(word => set.has(word));
  const name = plainKey(key);
  const isList = WORK_LISTS.some(list => list === name || isAlmost(name, list));
  const isColumn = COLUMNS.has(name);
  // `not_done` and `to_be_completed` are left.
  const isLeft = words.includes('not') || words.includes('to');
  const text = ` ${words.join(' ')} `;
  const isPast = PAST_PHRASES.some(phrase => text.includes(phrase)) || (has(PAST) && !isLeft);
  const isOwn = isColumn || WORK_LISTS.includes(name);
  return {
    isList,
    isWork: isList || isColumn || has(WORK),
    isStories:
      !isPast && (isColumn || words.some(word => STORIES.has(word) && !WITH_STATES.has(word))),
    isGroups: GROUPS.has(words.at(-1) ?? ''),
    isOneGroup: ONE_GROUP.has(words.at(-1) ?? ''),
    // `back_log` is no log.
    isPast: isPast && !isOwn,
    // The tasks of a release are tasks.
    isOther: has(OTHERS) && !has(STORIES) && !isOwn,
  };
});

/** Whether a key is one of a list of work, also with a typing error. */
export function isListOfWork(key: string): boolean {
  return nameOfList(key).isList;
}

/** Whether a key has a word for work in it, such as `moreStories` and `final_tasks`. */
export function isNameOfWork(key: string): boolean {
  return nameOfList(key).isWork;
}

/** Whether what a list has is work without saying so: its key is that of stories, and not of finished ones. */
export function isNameOfStories(key: string): boolean {
  return nameOfList(key).isStories;
}

/** Whether entries below a key are groups of stories, and no stories themselves. */
export function isNameOfGroups(key: string): boolean {
  return nameOfList(key).isGroups;
}

/** Whether an object with this key is a group of stories. */
export function isNameOfOneGroup(key: string): boolean {
  return nameOfList(key).isOneGroup;
}

/** Whether nothing below a key is work that is left: it is done, put aside, or a copy. */
export function isNameOfPast(key: string): boolean {
  return nameOfList(key).isPast;
}

/** Whether a key is one of other things: below it, only what is surely a story is work. */
export function isNameOfOthers(key: string): boolean {
  return nameOfList(key).isOther;
}

/** The words of a key, such as `final` and `tasks` of `finalTasks` and of `final_tasks`. */
function wordsOf(key: string): readonly string[] {
  return key
    .replaceAll(/[A-Z]+/g, ' $&')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(word => word !== '');
}

/** A key without case and separators, so that isDone, is_done and "Is done" are equal. */
export function plainKey(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z]/g, '');
}
