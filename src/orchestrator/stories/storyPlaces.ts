/** Possible paths of a workspace's `prd.json`, relative to its folder; the first one that exists is used. */
export const STORY_FILE_PLACES = [
  '.omc/prd.json',
  'prd.json',
  'scripts/ralph/prd.json',
  'tasks/prd.json',
  '.ralph/prd.json',
  'plans/prd.json',
] as const;

/**
 * Other possible paths of story files, if there is no `prd.json`: the first file that contains stories is used. A
 * `*` stands for one name; such a path only counts if exactly one file there contains open stories, or stories at
 * all, so that nothing is guessed. `*.yaml` and `*.yml` of a folder are one place.
 */
export const OTHER_STORY_FILE_PLACES = [
  '.omc/github.json',
  '.ralph/tasks.jsonl',
  '.taskmaster/tasks/tasks.json',
  'tasks/tasks.json',
  'feature_list.json',
  '.harness/feature_list.json',
  'harness/feature_list.json',
  '.claude/feature_list.json',
  '.agent/feature_list.json',
  'docs/feature_list.json',
  '.beads/issues.jsonl',
  '.beads/beads.jsonl',
  '.ralph/agent/tasks.jsonl',
  'IMPLEMENTATION_PLAN.md',
  '.ralph/IMPLEMENTATION_PLAN.md',
  '.ralph/fix_plan.md',
  '.ralph/@fix_plan.md',
  '@fix_plan.md',
  'fix_plan.md',
  '.ralph/plan.md',
  '.ralphy/plan.md',
  'PLAN.md',
  'plan.md',
  '.ralphy/tasks.yaml',
  '.ralphy/tasks.yml',
  'tasks.yaml',
  'tasks.yml',
  'PRD.md',
  '.claude/orchestration/*.yaml',
  '.claude/orchestration/*.yml',
  '_bmad-output/implementation-artifacts/sprint-status.yaml',
  '_bmad-output/sprint-status.yaml',
  'docs/implementation-artifacts/sprint-status.yaml',
  'docs/sprint-artifacts/sprint-status.yaml',
  'docs/sprint-status.yaml',
  'sprint-status.yaml',
  'openspec/changes/*/tasks.md',
  'specs/*/tasks.md',
  '.specify/specs/*/tasks.md',
  '.kiro/specs/*/tasks.md',
  'backlog',
  '.backlog',
  'specs/INDEX.md',
  '.ralph/specs/INDEX.md',
] as const;

/** Also names of files that have nothing to do with stories; lists that are documents of a project, too. */
const COMMON: ReadonlySet<string> = new Set([
  ...['PRD.md', 'tasks/tasks.json', 'tasks.yaml', 'tasks.yml'],
  ...['specs/INDEX.md', '.ralph/specs/INDEX.md'],
]);

/** Their names say nothing without their folder. */
const SHARED: ReadonlySet<string> = new Set([
  'tasks.json',
  'tasks.yaml',
  'tasks.yml',
  'github.json',
]);

/** In hidden folders at any depth, because a workspace can be a part of its repository; others in the root alone. */
const PATTERN = new RegExp(
  [...STORY_FILE_PLACES, ...OTHER_STORY_FILE_PLACES]
    .filter(place => !COMMON.has(place))
    .map(place => {
      const start = place.startsWith('.') ? '(?:^|/)' : '^';
      const ending = /backlog$/.test(place) ? '/(?:tasks|completed)/' : '$';
      return `${start}${place.replaceAll('.', '\\.').replace('*', '[^/]+')}${ending}`;
    })
    .join('|'),
);

/** Whether a file of a repository is a list of stories by its place alone. @param path with forward slashes */
export function isAtStoryPlace(path: string): boolean {
  return PATTERN.test(path);
}

/** Names that are no pattern, and that nothing else has. */
const NAMES: ReadonlySet<string> = new Set(
  [...STORY_FILE_PLACES, ...OTHER_STORY_FILE_PLACES]
    .filter(place => !COMMON.has(place))
    .map(place => place.slice(place.lastIndexOf('/') + 1).toLowerCase())
    .filter(name => name.includes('.') && !name.includes('*') && !SHARED.has(name)),
);

/** Whether a file is called like a list of stories, in whatever folder, or is where one is looked for. */
export function isNamedLikeStories(path: string): boolean {
  const file = path.replaceAll('\\', '/');
  return NAMES.has(file.slice(file.lastIndexOf('/') + 1).toLowerCase()) || isAtStoryPlace(file);
}

/** What tools write next to their tasks, what tells most first. */
const DOCUMENTS: readonly (readonly [list: RegExp, names: readonly string[]])[] = [
  [/(?:^|\/)\.kiro\/specs\/[^/]+\/tasks\.md$/, ['requirements.md', 'design.md']],
  [/(?:^|\/)openspec\/changes\/[^/]+\/tasks\.md$/, ['proposal.md', 'design.md', 'specs']],
  [
    /(?:^|\/)(?<!openspec\/)specs\/[^/]+\/tasks\.md$/,
    ['spec.md', 'plan.md', 'research.md', 'data-model.md', 'quickstart.md', 'contracts'],
  ],
];

/** The names of the documents that the tool of a list writes next to it. They need not exist. */
export function documentsNextTo(path: string): readonly string[] {
  const list = path.replaceAll('\\', '/');
  return DOCUMENTS.find(([pattern]) => pattern.test(list))?.[1] ?? [];
}
