import { type Message, say } from '../../../base/say.ts';

/**
 * What to do about a file without stories that seems to come from another tool: the tool is named, and its files are
 * left alone. By path and by a few words of the text, so that broken files are recognized, too.
 * @param text `undefined` if only the path may say whose file it is
 * @returns `undefined` if it seems to be nobody's
 */
export function foreignAdvice(path: string, text: string | undefined): Message | undefined {
  const file = path.replaceAll('\\', '/');
  if (/(?:^|\/)\.taskmaster\/(?!tasks\/)[^/]*\.json$/.test(file)) {
    return say(
      'These are settings of Task Master. Its tasks are in .taskmaster/tasks/tasks.json: name that file, or let "task-master parse-prd FILE" write it.',
    );
  }
  const [owner, , list] = SETTINGS.find(([, pattern]) => pattern.test(file)) ?? [];
  if (owner !== undefined) {
    return list === undefined
      ? say(
          'These are settings of {0}. Leave them as they are, and name the story file instead.',
          owner,
        )
      : say('These are settings of {0}. Its stories are in {1}: name that instead.', owner, list);
  }
  if (/(?:^|\/)\.omc\/state\//.test(file)) {
    return say(
      'This is the state of a run of oh-my-claudecode or Ralph. Leave it as it is, and name the story file instead.',
    );
  }
  const planner = PLANNERS.find(([, pattern]) => pattern.test(file))?.[0];
  if (planner !== undefined) {
    return say(
      'This is a document of {0}. Its list of tasks is the file tasks.md in the same folder: name that one, or let {0} write it first.',
      planner,
    );
  }
  if (text === undefined) {
    return toolAdvice(file, '');
  }
  if (isBmadDocument(file, text)) {
    return say(
      'This is a document of BMAD. Its list of stories is sprint-status.yaml: name that file, or let the sprint planning of BMAD write it first.',
    );
  }
  if (/(?:^|\/)feature_list\.json$/.test(file)) {
    return say(
      'This feature list has no features that can be read. Let the tool that writes it create it again, or name another file.',
    );
  }
  return toolAdvice(file, text.slice(0, MAX_HEAD));
}

function toolAdvice(file: string, head: string): Message | undefined {
  const tool = TOOLS.find(([, isIts]) => isIts(file, head))?.[0];
  return tool === undefined
    ? undefined
    : say(
        'This seems to be a file of {0}, which has no stories. Leave it as it is, and name another file.',
        tool,
      );
}

/** By their headings, because other projects have documents of this name, too. */
function isBmadDocument(file: string, text: string): boolean {
  return (
    /(?:^|\/)(?:_bmad-output\/.*|[^/]*epics?[^/]*)\.md$/i.test(file) &&
    /^#{1,4} (?:Epic \d+|Story \d+\.\d+)\b/m.test(text)
  );
}

const MAX_HEAD = 20_000;

/** Names of settings, and where the tool has its stories if it has any. */
const SETTINGS: readonly (readonly [tool: string, path: RegExp, list?: string])[] = [
  ['ralphy', /(?:^|\/)\.ralphy\/config\.ya?ml$/, '.ralphy/tasks.yaml'],
  ['Beads', /(?:^|\/)\.beads\/(?:config\.ya?ml|metadata\.json)$/, '.beads/issues.jsonl'],
  ['Backlog.md', /(?:^|\/)(?:\.?backlog\/config\.ya?ml|backlog\.config\.yml)$/, 'backlog/'],
  ['ralph-orchestrator', /(?:^|\/)ralph\.ya?ml$/, '.ralph/agent/tasks.jsonl'],
  ['TypeScript', /(?:^|\/)[tj]sconfig(?:\.[^/]+)?\.json$/],
  ['Composer', /(?:^|\/)composer\.json$/],
  ['ESLint', /(?:^|\/)\.eslintrc(?:\.json|\.ya?ml)?$/],
  ['Deno', /(?:^|\/)deno\.jsonc?$/],
  ['Biome', /(?:^|\/)\.?biome\.jsonc?$/],
  ['Claude Code', /(?:^|\/)\.claude\/settings(?:\.local)?\.json$/],
];

/** Tools that keep the tasks of a change next to its documents. */
const PLANNERS: readonly (readonly [tool: string, path: RegExp])[] = [
  ['Kiro', /(?:^|\/)\.kiro\/specs\/[^/]+\/(?!tasks\.md$)[^/]+\.md$/],
  ['OpenSpec', /(?:^|\/)openspec\/changes\/[^/]+\/(?!tasks\.md$)[^/]+\.md$/],
  ['Spec Kit', /(?:^|\/)specs\/\d{3}-[^/]+\/(?:spec|plan|research|data-model|quickstart)\.md$/],
];

type IsIts = (path: string, head: string) => boolean;

const isYaml = (path: string) => /\.ya?ml$/i.test(path);
const isJson = (path: string) => /\.json$/i.test(path);

const TOOLS: readonly (readonly [tool: string, isIts: IsIts])[] = [
  ['VS Code', path => /(?:^|\/)\.vscode\/[^/]+$/.test(path)],
  ['npm', path => /(?:^|\/)package(?:-lock)?\.json$/.test(path)],
  ['GitHub Actions', path => /(?:^|\/)\.github\/workflows\//.test(path)],
  ['Trello', (path, head) => isJson(path) && /"idBoard"\s*:/.test(head)],
  ['Jira', (path, head) => isJson(path) && /"issuetype"\s*:/.test(head)],
  ['Claude Code', (path, head) => /\.jsonl$/.test(path) && /"sessionId"\s*:/.test(head)],
  [
    'Kubernetes',
    (path, head) => isYaml(path) && /^apiVersion:/m.test(head) && /^kind:/m.test(head),
  ],
  ['Docker Compose', (path, head) => isYaml(path) && /^services:/m.test(head)],
  ['Ansible', (path, head) => isYaml(path) && /^(?:---\s*\n)?\s*- (?:name|hosts):/.test(head)],
  ['CrewAI', (path, head) => isYaml(path) && /^\s+expected_output:/m.test(head)],
];
