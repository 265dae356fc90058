import path from 'node:path';
import {
  type EventEmitter,
  l10n,
  Position,
  Selection,
  TextEditorRevealType,
  Uri,
  window,
  workspace,
} from 'vscode';
import * as z from 'zod';
import { HumanError } from '../../base/humanError.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { shorten, withoutControls } from '../../base/text.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { ofIteration } from '../../orchestrator/journal/iterationEvents.ts';
import { readDecisions } from '../../orchestrator/journal/journal.ts';
import { receiptOf } from '../../orchestrator/journal/receipt.ts';
import { runIds } from '../../orchestrator/workspace/runIds.ts';
import {
  checksOf,
  checksText,
  storyReceiptText,
  transcriptText,
} from '../../presentation/iterationDocuments.ts';
import { iterationText, receiptText } from '../../presentation/receiptTable.ts';
import { RUN_SCHEME } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import type { IterationRef, StoryRef } from '../common/refs.ts';
import { translate } from '../common/translate.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';

/** A prompt has at most some ten KB; a check's log can have 50 MB, and an editor shows only its end. */
const MAX_PROMPT_BYTES = 4 * 1024 * 1024;
const MAX_LOG_BYTES = 64 * 1024 * 1024;
const MAX_LOG_SHOWN = 2_000_000;
/** Maximum length of a story id in the title of a tab, in UTF-16 units. */
const MAX_TITLE = 80;
/** Minimum interval between redraws of a growing transcript. */
const REDRAW_MS = 1_000;

const querySchema = z.discriminatedUnion('what', [
  z.object({
    what: z.enum(['prompt', 'transcript', 'checks', 'receipt']),
    folder: z.string(),
    runId: z.string(),
    iteration: z.number().int().positive(),
  }),
  z.object({ what: z.literal('runReceipt'), folder: z.string(), runId: z.string() }),
  z.object({ what: z.literal('storyReceipt'), folder: z.string(), storyId: z.string() }),
]);
type Query = z.infer<typeof querySchema>;
type IterationDocument = Extract<Query, { readonly iteration: number }>['what'];

/** A run's records of its iterations as read-only documents: prompts, transcripts, checks, receipts. */
export class RunDocuments extends Owner {
  private readonly changeEmitter: EventEmitter<Uri>;
  private readonly folders: Folders;
  private timer: NodeJS.Timeout | undefined;
  /** Folders whose runs have made progress since the documents were last drawn. */
  private readonly moved = new Set<Folder>();

  /** @param changed fires for documents that need a redraw */
  constructor(folders: Folders, changed: EventEmitter<Uri>) {
    super();
    this.folders = folders;
    this.changeEmitter = changed;
    this.own(folders.inEach(folder => folder.runs.onDidReadEvents(() => this.redrawSoon(folder))));
  }

  override dispose(): void {
    clearTimeout(this.timer);
    super.dispose();
  }

  /** @param line from 1 */
  async openIteration(what: IterationDocument, ref: IterationRef, line?: number): Promise<void> {
    const { folder, runId, iteration } = ref;
    const titles: Readonly<Record<IterationDocument, string>> = {
      prompt: l10n.t('Prompt of iteration {0}', iteration),
      transcript: l10n.t('Transcript of iteration {0}', iteration),
      checks: l10n.t('Checks of iteration {0}', iteration),
      receipt: l10n.t('Receipt of iteration {0}', iteration),
    };
    await this.open({ what, folder, runId, iteration }, titles[what], line);
  }

  async openStoryReceipt({ folder, storyId }: StoryRef): Promise<void> {
    const title = l10n.t('Receipt of {0}', shorten(storyId, MAX_TITLE));
    await this.open({ what: 'storyReceipt', folder, storyId }, title);
  }

  async openRunReceipt(folder: string, runId: string): Promise<void> {
    await this.open({ what: 'runReceipt', folder, runId }, l10n.t('Receipt of run {0}', runId));
  }

  /** The text of a document. */
  async textOf(uri: Uri): Promise<string> {
    const query = parseQuery(uri);
    const folder = query && this.folders.at(query.folder);
    if (query === undefined || folder === undefined) {
      return `${l10n.t('This document is about a folder that is not open in this window.')}\n`;
    }
    return documentText(folder, query);
  }

  private async open(query: Query, title: string, line = 1): Promise<void> {
    const uri = Uri.from({
      scheme: RUN_SCHEME,
      path: `/${withoutControls(title).replaceAll(/[/\\?#]/g, '-')}.txt`,
      query: JSON.stringify(query),
    });
    // It may have been open before the file changed.
    this.changeEmitter.fire(uri);
    const document = await workspace.openTextDocument(uri);
    const editor = await window.showTextDocument(document, { preview: true });
    if (line > 1) {
      const at = new Position(Math.min(line, document.lineCount) - 1, 0);
      editor.selection = new Selection(at, at);
      editor.revealRange(editor.selection, TextEditorRevealType.AtTop);
    }
  }

  /** Redraws the open documents of a run after its progress. */
  private redrawSoon(folder: Folder): void {
    this.moved.add(folder);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const moved = [...this.moved];
      this.moved.clear();
      for (const { uri } of workspace.textDocuments) {
        const query = uri.scheme === RUN_SCHEME ? parseQuery(uri) : undefined;
        if (query !== undefined && moved.some(folder => canHaveGrown(query, folder))) {
          this.changeEmitter.fire(uri);
        }
      }
    }, REDRAW_MS);
  }
}

/** Runs before the newest one do not change, and neither do prompts. */
function canHaveGrown(query: Query, { path: folder, runs }: Folder): boolean {
  return (
    query.folder === folder &&
    query.what !== 'prompt' &&
    (query.what === 'storyReceipt' || query.runId === runs.current.runId)
  );
}

function parseQuery(uri: Uri): Query | undefined {
  try {
    return querySchema.parse(JSON.parse(uri.query));
  } catch {
    return undefined;
  }
}

async function documentText({ files }: Folder, query: Query): Promise<string> {
  if (query.what === 'storyReceipt') {
    const runs: RunEvent[][] = [];
    for (const runId of await runIds(files)) {
      runs.push(await readDecisions(files.journalFile(runId)));
    }
    return storyReceiptText(runs, query.storyId, translate);
  }
  const { runId } = query;
  if (query.what === 'prompt') {
    const file = path.join(files.iterationDir(runId, query.iteration), 'prompt.md');
    const prompt = await readPlainFile(file, MAX_PROMPT_BYTES);
    return (
      prompt?.toString('utf8') ?? `${l10n.t('The prompt of this iteration no longer exists.')}\n`
    );
  }
  const journal = files.journalFile(runId);
  if (query.what === 'transcript') {
    const isKept = ofIteration(query.iteration);
    return transcriptText(await readDecisions(journal, isKept), query.iteration, translate);
  }
  const events = await readDecisions(journal);
  switch (query.what) {
    case 'runReceipt':
      return `${receiptText({ ...receiptOf(events), run: runId }, translate)}\n`;
    case 'receipt':
      return `${iterationText(receiptOf(events, query.iteration), events, translate)}\n`;
    case 'checks': {
      const checks = checksOf(events, query.iteration);
      const dir = files.iterationDir(runId, query.iteration);
      const outputs = await Promise.all(
        checks.map(async (event, index) => ({
          event,
          output: await logText(path.join(dir, `check-${index + 1}.log`)),
        })),
      );
      return checksText(outputs, translate);
    }
    default:
      throw new HumanError(l10n.t('There is no such document.'));
  }
}

/** The end of a check's log; `undefined` if the file is gone. */
async function logText(file: string): Promise<string | undefined> {
  const text = (await readPlainFile(file, MAX_LOG_BYTES))?.toString('utf8');
  return text === undefined || text.length <= MAX_LOG_SHOWN
    ? text
    : `…\n${text.slice(-MAX_LOG_SHOWN)}`;
}
