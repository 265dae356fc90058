import {
  commands,
  l10n,
  Position,
  Range,
  type Terminal,
  TerminalLink,
  type TerminalLinkContext,
  type TerminalLinkProvider,
  Uri,
  window,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { placesFolder } from '../../orchestrator/places/placesFolder.ts';
import { storyOfLine } from '../../presentation/storyPrefix.ts';
import { allowOffer, transcriptOf } from '../../presentation/toolLines.ts';
import { Command } from '../common/contributions.ts';
import type { CommitRef, IterationRef } from '../common/refs.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import { type LinkCandidate, linkCandidates } from './linkCandidates.ts';
import { linkedFile, placeNow } from './linkedFile.ts';
import { deniedTools } from './toolAllowance.ts';

/** What links in a terminal are about. */
export interface ShownRun {
  readonly folder: Folder;
  readonly runId: string | undefined;
  /** The story that alone it shows. */
  readonly storyId?: string;
}

type FileCandidate = Extract<LinkCandidate, { kind: 'file' }>;
type AgentsPlace = Awaited<ReturnType<typeof placeNow>>;
type Allow = (folder: Folder, tool: string) => Promise<void>;

class RunLink extends TerminalLink {
  readonly open: () => PromiseLike<unknown>;

  constructor({ start, length }: LinkCandidate, tooltip: string, open: () => PromiseLike<unknown>) {
    super(start, length, tooltip);
    this.open = open;
  }
}

/**
 * Links in the terminals of runs only: files of the agent's place or of the folder, recorded commits, transcripts.
 * @param find returns the run that a terminal shows, if it is one of ours
 * @param allow allows a tool that the folder's run was not allowed to use
 */
export function runLinks(
  find: (terminal: Terminal) => ShownRun | undefined,
  allow: Allow,
): Disposable {
  const transcript = patternOf(transcriptOf('#', translate), '(\\d{1,6})');
  const offer = patternOf(allowOffer('#', translate), '([\\w.:-]{1,120})');

  async function provideTerminalLinks({ line, terminal }: TerminalLinkContext): Promise<RunLink[]> {
    const shown = find(terminal);
    if (shown === undefined) {
      return [];
    }
    const candidates = linkCandidates(line, transcript, offer);
    const hasFiles = candidates.some(({ kind }) => kind === 'file');
    const place = hasFiles ? await placeOfLine(line, shown) : undefined;
    const links = await Promise.all(
      candidates.map(candidate =>
        candidate.kind === 'file'
          ? linkToFile(candidate, shown.folder, place)
          : linkTo(candidate, shown, allow),
      ),
    );
    return links.filter(link => link !== undefined);
  }

  const provider: TerminalLinkProvider<RunLink> = {
    provideTerminalLinks,
    handleTerminalLink: async link => void (await link.open()),
  };
  return window.registerTerminalLinkProvider(provider);
}

/** Where the agent works that a line is about, if it has a place of its own. */
async function placeOfLine(
  line: string,
  { folder, runId, storyId }: ShownRun,
): Promise<AgentsPlace> {
  const { current } = folder.runs;
  const { alive, state } = current;
  if (!alive || !state.isolated || runId === undefined || runId !== current.runId) {
    return undefined;
  }
  const story = storyId ?? storyOfLine(line, state);
  const places = placesFolder(process.env, process.platform, folder.path);
  return story === undefined ? undefined : placeNow(places, { runId, state }, story);
}

async function linkToFile(
  candidate: FileCandidate,
  folder: Folder,
  place: AgentsPlace,
): Promise<RunLink | undefined> {
  const found = await linkedFile(candidate.path, folder.path, place);
  return (
    found &&
    new RunLink(
      candidate,
      found.isOfAgent ? l10n.t('Open the agent’s file') : l10n.t('Open the file'),
      () => openFile(found.file, candidate),
    )
  );
}

async function linkTo(
  candidate: Exclude<LinkCandidate, FileCandidate>,
  { folder, runId }: ShownRun,
  allow: Allow,
): Promise<RunLink | undefined> {
  switch (candidate.kind) {
    case 'commit': {
      const { hash } = candidate;
      const isKnown = folder.runs.states.some(({ commits }) =>
        commits.some(commit => commit.hash.startsWith(hash)),
      );
      const ref: CommitRef = { folder: folder.path, hash };
      return isKnown
        ? new RunLink(candidate, l10n.t('Open the changes'), () =>
            commands.executeCommand(Command.openCommit, ref),
          )
        : undefined;
    }
    case 'tool': {
      const { tool } = candidate;
      // An agent's output may say so, too; only what the run was not allowed to use is offered.
      return deniedTools(folder).includes(tool)
        ? new RunLink(candidate, l10n.t('Allow {0} in your own settings', tool), () =>
            allow(folder, tool),
          )
        : undefined;
    }
    case 'transcript': {
      if (runId === undefined) {
        return undefined;
      }
      const ref: IterationRef = { folder: folder.path, runId, iteration: candidate.iteration };
      return new RunLink(candidate, l10n.t('Open the transcript'), () =>
        commands.executeCommand(Command.openTranscript, ref),
      );
    }
  }
}

/** Matches a text that has # for its one variable part. */
function patternOf(text: string, part: string): RegExp {
  return new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replace('#', part), 'g');
}

function openFile(file: string, { line = 1, column = 1 }: { line?: number; column?: number }) {
  const at = new Position(Math.max(0, line - 1), Math.max(0, column - 1));
  return window.showTextDocument(Uri.file(file), { selection: new Range(at, at), preview: true });
}
