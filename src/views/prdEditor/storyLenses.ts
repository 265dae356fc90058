import {
  CodeLens,
  type CodeLensProvider,
  commands,
  Disposable,
  type Command as EditorCommand,
  EventEmitter,
  type LogOutputChannel,
  l10n,
  languages,
  Range,
  type TextDocument,
  type Uri,
  workspace,
} from 'vscode';
import * as z from 'zod';
import { isAside } from '../../orchestrator/stories/asideReason.ts';
import type { Story } from '../../orchestrator/stories/story.ts';
import {
  commitsByStory,
  isAtWork,
  type RunFacts,
  runsOnFile,
  type StoryState,
  storyStates,
} from '../../presentation/storyState.ts';
import type { ConfigValue } from '../common/configValue.ts';
import { Command } from '../common/contributions.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { plainLabel } from '../common/plainText.ts';
import type { StoryRef } from '../common/refs.ts';
import { registerCommand } from '../common/registerCommand.ts';
import { Throttle } from '../common/throttle.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { stateMeaning } from '../stories/storyTooltip.ts';
import { stateWords } from '../stories/storyWords.ts';
import type { FileOfTasks, StoryDocuments } from './storyDocuments.ts';
import { STORY_DOCUMENTS } from './storySelector.ts';

/** Internal to this module, so package.json does not contribute it. */
const LENS_COMMAND = 'ralphFresh.onSavedStory';
const MAX_WORDS = 100;
/** Delay of updates in ms: many properties of a run can change at once. */
const FOLLOW_MS = 300;

const invocationSchema = z.object({ command: z.string(), file: z.string() });

type Action = 'state' | 'run' | 'tick' | 'untick' | 'skip' | 'reset' | 'changes' | 'receipt';

/** One of a story's actions; its title is created when it becomes visible. */
class StoryLens extends CodeLens {
  readonly action: Action;
  readonly state: StoryState;
  readonly file: Uri;
  readonly ref: StoryRef;

  constructor(action: Action, state: StoryState, file: Uri, ref: StoryRef, line: number) {
    super(new Range(line, 0, line, 0));
    this.action = action;
    this.state = state;
    this.file = file;
    this.ref = ref;
  }
}

/** Above each story of a story file: its state, and the available actions. */
export function storyLenses(
  documents: StoryDocuments,
  folders: Folders,
  isOn: ConfigValue<'codeLens'>,
  log: LogOutputChannel,
): Disposable {
  const store = new DisposableStore();
  const changeEmitter = store.add(new EventEmitter<void>());

  /** Those of the text, or in a file of a folder of tasks, its own. */
  async function storiesOf(document: TextDocument): Promise<FileOfTasks | undefined> {
    const folder = await documents.folderOf(document);
    if (folder === undefined) {
      return documents.tasksIn(document);
    }
    const list = (await documents.read(document))?.file;
    return list?.kind === 'stories' ? { folder, list, stories: list.stories } : undefined;
  }

  async function provideCodeLenses(document: TextDocument): Promise<StoryLens[]> {
    const shown = isOn.value ? await storiesOf(document) : undefined;
    if (shown === undefined) {
      return [];
    }
    const { folder, list } = shown;
    const { states, current: run } = folder.runs;
    const facts = runsOnFile(list.path, folder.path, { run, states });
    const standing = storyStates(list.stories, facts);
    const commits = commitsByStory(facts.states);
    const lastLine = document.lineCount - 1;
    return shown.stories.flatMap(story => {
      const state = standing.get(story);
      if (state === undefined) {
        return [];
      }
      const ref = { folder: folder.path, storyId: story.id, position: story.position };
      const line = Math.min(story.line - 1, lastLine);
      const actions = actionsOf(folder, facts, story, state, commits.has(story.id));
      return actions.map(action => new StoryLens(action, state, document.uri, ref, line));
    });
  }

  const follow = store.add(new Throttle(() => changeEmitter.fire(), FOLLOW_MS));
  store.add(isOn.onDidChange(() => changeEmitter.fire()));
  store.add(workspace.onDidGrantWorkspaceTrust(() => changeEmitter.fire()));
  store.add(
    folders.inEach(folder => {
      const soon = () => follow.call();
      return Disposable.from(folder.runs.onDidChange(soon), folder.stories.onDidChange(soon));
    }),
  );
  store.add(registerCommand(LENS_COMMAND, log, invoke));
  const provider: CodeLensProvider<StoryLens> = {
    onDidChangeCodeLenses: changeEmitter.event,
    provideCodeLenses,
    resolveCodeLens: lens => Object.assign(lens, { command: commandOf(lens) }),
  };
  store.add(languages.registerCodeLensProvider(STORY_DOCUMENTS, provider));
  return store;
}

/** The actions that fit the state. */
function actionsOf(
  { runs }: Folder,
  { states }: RunFacts,
  story: Story,
  state: StoryState,
  hasCommits: boolean,
): readonly Action[] {
  const isRunning = isAtWork(state);
  const canStart =
    !story.done && !isRunning && !['waiting', 'parked', 'settling'].includes(state.kind);
  const canRun = canStart && !runs.current.alive && workspace.isTrusted;
  // Without any run, there is none that could skip a story.
  const canSteer = workspace.isTrusted && runs.current.runId !== undefined && !story.done;
  const isLeftAlone = state.kind === 'skipped' || state.kind === 'blocked';
  const hasIterations = states.some(
    ({ storyRecords }) => (storyRecords.get(story.id)?.iterations ?? 0) > 0,
  );
  return [
    'state',
    ...(canRun ? (['run'] as const) : []),
    ...(isRunning ? [] : ([story.done ? 'untick' : 'tick'] as const)),
    ...(canSteer && !isAside(story) ? ([isLeftAlone ? 'reset' : 'skip'] as const) : []),
    ...(hasCommits ? (['changes'] as const) : []),
    ...(hasIterations ? (['receipt'] as const) : []),
  ];
}

function commandOf({ action, file, ref, state }: StoryLens): EditorCommand {
  if (action === 'state') {
    // Without a command it is shown as text instead of a link.
    const title = plainLabel(stateWords(state), MAX_WORDS);
    return { title, command: '', tooltip: stateMeaning(state) };
  }
  const commandsOf: Readonly<
    Record<typeof action, readonly [command: string, title: string, tooltip: string]>
  > = {
    run: [Command.runStory, l10n.t('Run'), l10n.t('Start a run on this story alone')],
    tick: [Command.tickStory, l10n.t('Tick'), l10n.t('Mark the story as done')],
    untick: [
      Command.untickStory,
      l10n.t('Untick'),
      l10n.t('Mark the story as not done, to have it done again'),
    ],
    skip: [Command.skipStory, l10n.t('Skip'), l10n.t('Let runs skip this story')],
    reset: [
      Command.resetStory,
      l10n.t('Give Another Chance'),
      l10n.t('Let runs work on this story again'),
    ],
    changes: [
      Command.openStoryChanges,
      l10n.t('Changes'),
      l10n.t('Show what the commits of this story changed'),
    ],
    receipt: [
      Command.showReceipt,
      l10n.t('Receipt'),
      l10n.t('Show what this story took: iterations, time, cost'),
    ],
  };
  const [command, title, tooltip] = commandsOf[action];
  return {
    title,
    tooltip,
    command: LENS_COMMAND,
    arguments: [{ command, file: file.toString() }, ref],
  };
}

/** The commands work on the file, so unsaved changes in the editor are saved first. */
async function invoke(invocation: unknown, ref: unknown): Promise<void> {
  const { command, file } = invocationSchema.parse(invocation);
  const document = workspace.textDocuments.find(({ uri }) => uri.toString() === file);
  if (document?.isDirty && !(await document.save())) {
    // The editor has reported the reason.
    return;
  }
  await commands.executeCommand(command, ref);
}
