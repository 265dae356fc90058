import { type Message, say } from '../../../base/say.ts';
import { namedFolder } from './backlogSettings.ts';
import { isBmadText } from './bmadFormat.ts';
import { isOtherSpelling } from './fieldNames.ts';
import { readJson } from './jsonText.ts';
import { hasPlaceForTasks } from './orchestrationText.ts';
import { plainText } from './plainText.ts';
import { isEntry } from './prdEntry.ts';
import { looksLikeStory } from './storyParts.ts';
import { TextLines } from './textLines.ts';

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
  if (/(?:^|\/)sprint-status\.ya?ml$/.test(file) && !isBmadText(text ?? '')) {
    return say(
      'This is the list of BMAD, but it has no key "development_status:". If that key is misspelled, correct it; otherwise name another file.',
    );
  }
  const [owner, pattern, usual] = SETTINGS.find(([, own]) => own.test(file)) ?? [];
  const list = owner === 'Backlog.md' ? backlogPlace(pattern?.exec(file)?.[1], text) : usual;
  if (owner !== undefined) {
    return list === undefined
      ? say(
          'These are settings of {0}. Leave them as they are, and name the story file instead.',
          owner,
        )
      : say('These are settings of {0}. Its stories are in {1}: name that instead.', owner, list);
  }
  const other = OTHER_FILES.find(([, pattern]) => pattern.test(file));
  if (other !== undefined) {
    return say(
      'This is a file of {0} without stories. They are in {1}: name that instead.',
      other[0],
      other[2],
    );
  }
  if (INSTRUCTIONS.test(file)) {
    return say(
      'These are instructions for agents, not stories. Leave them as they are, and name the story file instead.',
    );
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
    return featureListAdvice(text);
  }
  return toolAdvice(file, text.slice(0, MAX_HEAD));
}

/**
 * Where the list of a tool begins if its key is misspelled.
 * @param path of a file for which there is advice
 */
export function misspelledListPlace(path: string, text: string, lines: TextLines) {
  const [, key, pattern] = TOOL_LISTS.find(([name]) => path.endsWith(name)) ?? [];
  const found =
    pattern &&
    [...text.matchAll(pattern)].find(([, name = '']) => isOtherSpelling(name, key ?? ''));
  return found && { ...lines.at(found.index), isPlaced: true as const };
}

/** Lists that are found by the name of their file, and how their keys are written. */
const TOOL_LISTS: readonly (readonly [name: string, key: string, pattern: RegExp])[] = [
  ['sprint-status.yaml', 'development_status', /^([\w-]+)[\t ]*:/gm],
  ['feature_list.json', 'features', /"(\w+)"\s*:\s*\[/g],
];

/**
 * What to do about a file that has no stories and seems to be nobody's: it may be about something else, so it is not
 * said what to write into it.
 */
export function unknownFileAdvice(): Message {
  return say(
    'This file has no stories of a known format. Name another one, or write .omc/prd.json (docs/story-files.md describes it).',
  );
}

/**
 * Whether a text without stories is meant as a list of them, as far as it shows: it is empty, or has a place for
 * them.
 */
export function hasPlaceForStories(path: string, text: string): boolean {
  if (text.trim() === '') {
    return true;
  }
  if (isYaml(path)) {
    return isBmadText(text) || hasPlaceForTasks(text);
  }
  return /\.(?:md|markdown|mdx)$/i.test(path)
    ? /^[\t >]*(?:(?:[-*+]|\d+[.)]|#+)[\t ]*)?\[[\t ]*[xX~/-]?[\t ]*\](?![(:])/m.test(text)
    : JSON_PLACES.test(text);
}

const JSON_PLACES =
  /"(?:(?:userStories|user_stories|stories|passes|acceptanceCriteria|acceptance_criteria)"\s*:|(?:phases|sprints|epics|milestones)"\s*:\s*\[\s*\{)/;

/**
 * Where the tasks of Backlog.md are; `undefined` if its settings name a place out of the project.
 * @param around the folder of the settings, if it is one with tasks
 */
function backlogPlace(around: string | undefined, text = ''): string | undefined {
  const folder =
    around ?? namedFolder(text) ?? (/^backlog_?directory/im.test(text) ? '' : 'backlog');
  return folder === '' ? undefined : `${plainText(folder)}/`;
}

/** Why no features were found, as far as the text shows. */
function featureListAdvice(text: string): Message {
  const parsed = readJson(text, new TextLines(text));
  const root = 'root' in parsed && isEntry(parsed.root) ? parsed.root : {};
  const other = Object.entries(root).find(
    ([, list]) => Array.isArray(list) && list.some(looksLikeStory),
  );
  if (other !== undefined) {
    return say(
      'The list "{0}" of this feature list is not read, only one that is called "features". Let the tool that writes it use that name, or name another file.',
      plainText(other[0]),
    );
  }
  const features: unknown = root['features'] ?? root;
  const values = isEntry(features) ? Object.entries(features) : [];
  const found = values.filter(([, feature]) => looksLikeStory(feature));
  // A file may begin with a title and a state of its own.
  return found[0] !== undefined && found.length * 2 > values.length
    ? say(
        'The features of this list are the values of an object ("{0}": …), and only a list is read ([ … ]). Let the tool that writes it write a list, or name another file.',
        plainText(found[0][0]),
      )
    : say(
        'This feature list has no features that can be read. Let the tool that writes it create it again, or name another file.',
      );
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
  ['ralphy', /(?:^|\/)\.ralphy\/config\.ya?ml$/, 'PRD.md, tasks.yaml or .ralphy/tasks.yaml'],
  ['Beads', /(?:^|\/)\.beads\/(?:config\.ya?ml|metadata\.json)$/, '.beads/issues.jsonl'],
  ['Backlog.md', /(?:^|\/)(?:(\.?backlog)\/config\.ya?ml|backlog\.config\.yml)$/, 'backlog'],
  ['ralph-orchestrator', /(?:^|\/)ralph\.ya?ml$/, '.ralph/agent/tasks.jsonl'],
  ['BMAD', /(?:^|\/)(?:_bmad|\.bmad-core)\/(?:.+\/)?[^/]+\.ya?ml$/, 'sprint-status.yaml'],
  ['OpenSpec', /(?:^|\/)openspec\/config\.ya?ml$/, 'openspec/changes/*/tasks.md'],
  ['Ralph Fresh', /(?:^|\/)\.omc\/config\.json$/],
  ['TypeScript', /(?:^|\/)[tj]sconfig(?:\.[^/]+)?\.json$/],
  ['Composer', /(?:^|\/)composer\.json$/],
  ['ESLint', /(?:^|\/)\.eslintrc(?:\.json|\.ya?ml)?$/],
  ['Deno', /(?:^|\/)deno\.jsonc?$/],
  ['Biome', /(?:^|\/)\.?biome\.jsonc?$/],
  ['Claude Code', /(?:^|\/)(?:\.claude\/settings(?:\.local)?|\.claude)\.json$/],
  ['MCP', /(?:^|\/)\.?mcp\.json$/],
  ['GitLab CI', /(?:^|\/)\.gitlab-ci\.ya?ml$/],
  ['MkDocs', /(?:^|\/)mkdocs\.ya?ml$/],
  ['pre-commit', /(?:^|\/)\.pre-commit-config\.ya?ml$/],
  ['pnpm', /(?:^|\/)pnpm-(?:workspace|lock)\.ya?ml$/],
  ['Helm', /(?:^|\/)Chart\.ya?ml$/],
  ['AWS CodeBuild', /(?:^|\/)buildspec\.ya?ml$/],
  ['Cargo', /(?:^|\/)Cargo\.(?:toml|lock)$/],
  ['Python', /(?:^|\/)pyproject\.toml$/],
];

/** Files next to the list of a tool, and where that list is. */
const OTHER_FILES: readonly (readonly [tool: string, path: RegExp, list: string])[] = [
  ['Beads', /(?:^|\/)\.beads\/(?!(?:issues|beads)\.)[^/]+\.jsonl$/, '.beads/issues.jsonl'],
  [
    'ralph-orchestrator',
    /(?:^|\/)\.ralph\/agent\/(?!tasks\.)[^/]+\.(?:jsonl|md)$/,
    '.ralph/agent/tasks.jsonl',
  ],
  ['Spec Kit', /(?:^|\/)\.specify\/(?:memory|templates)\//, 'specs/*/tasks.md'],
  ['OpenSpec', /(?:^|\/)openspec\/(?:project\.md$|specs\/)/, 'openspec/changes/*/tasks.md'],
  ['Kiro', /(?:^|\/)\.kiro\/steering\//, '.kiro/specs/*/tasks.md'],
];

const INSTRUCTIONS =
  /(?:^|\/)(?:(?:AGENTS|CLAUDE|CLAUDE\.local|GEMINI|SKILL|copilot-instructions)\.md|\.claude\/(?:agents|commands|skills)\/.+)$/;

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
  [
    'Task (taskfile.dev)',
    (path, head) =>
      /(?:^|\/)taskfile(?:\.dist)?\.ya?ml$/i.test(path) ||
      (isYaml(path) && /^version:\s*['"]?3/m.test(head) && /^tasks:\s*\n\s+[^\s-]/m.test(head)),
  ],
  ['Helm', path => /(?:^|\/)values(?:[.-][^/]+)?\.ya?ml$/.test(path)],
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
