import { stat } from 'node:fs/promises';
import path from 'node:path';
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
import { transcriptOf } from '../../presentation/toolLines.ts';
import { Command } from '../common/contributions.ts';
import type { CommitRef, IterationRef } from '../common/refs.ts';
import { translate } from '../common/translate.ts';
import { type LinkCandidate, linkCandidates } from './linkCandidates.ts';
import type { RunTerminal } from './runTerminal.ts';

class RunLink extends TerminalLink {
  readonly open: () => PromiseLike<unknown>;

  constructor({ start, length }: LinkCandidate, tooltip: string, open: () => PromiseLike<unknown>) {
    super(start, length, tooltip);
    this.open = open;
  }
}

/**
 * Links in the terminals of runs only: files of the folder, recorded commits, transcripts.
 * @param find returns the run that a terminal shows, if it is one of ours
 */
export function runLinks(find: (terminal: Terminal) => RunTerminal | undefined): Disposable {
  const transcript = new RegExp(
    transcriptOf('#', translate)
      .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace('#', '(\\d{1,6})'),
    'g',
  );

  async function provideTerminalLinks({ line, terminal }: TerminalLinkContext): Promise<RunLink[]> {
    const shown = find(terminal);
    if (shown === undefined) {
      return [];
    }
    const links = await Promise.all(
      linkCandidates(line, transcript).map(candidate => linkTo(candidate, shown)),
    );
    return links.filter(link => link !== undefined);
  }

  const provider: TerminalLinkProvider<RunLink> = {
    provideTerminalLinks,
    handleTerminalLink: async link => void (await link.open()),
  };
  return window.registerTerminalLinkProvider(provider);
}

async function linkTo(
  candidate: LinkCandidate,
  { folder, runId }: RunTerminal,
): Promise<RunLink | undefined> {
  switch (candidate.kind) {
    case 'file': {
      const file = path.resolve(folder.path, candidate.path);
      // An agent's output may name any file; only those of the folder are opened.
      if (!folder.contains(file) || !(await isFile(file))) {
        return undefined;
      }
      return new RunLink(candidate, l10n.t('Open the file'), () => openFile(file, candidate));
    }
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

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    // Missing or not readable: no link.
    return false;
  }
}

function openFile(file: string, { line = 1, column = 1 }: { line?: number; column?: number }) {
  const at = new Position(Math.max(0, line - 1), Math.max(0, column - 1));
  return window.showTextDocument(Uri.file(file), { selection: new Range(at, at), preview: true });
}
