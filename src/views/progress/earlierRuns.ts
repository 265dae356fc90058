import { stat } from 'node:fs/promises';
import { EventEmitter, type LogOutputChannel } from 'vscode';
import { messageOf } from '../../base/messageOf.ts';
import { readJournal } from '../../orchestrator/journal/journal.ts';
import { type RunMetrics, runMetrics } from '../../orchestrator/journal/runMetrics.ts';
import { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { begunRunIds } from '../../orchestrator/workspace/runIds.ts';
import { Owner } from '../common/disposableStore.ts';

/** The newest runs before the shown one; what was longer ago says little. */
const MAX_RUNS = 20;

/** What the earlier runs of a folder have measured. Their journals are read once, when somebody looks. */
export class EarlierRuns extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<void>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly log: LogOutputChannel;
  /** By journal; a run that was continued has a longer one. */
  private readonly known = new Map<
    string,
    { readonly bytes: number; readonly metrics: RunMetrics | undefined }
  >();
  private shown: { readonly key: string; readonly metrics: readonly RunMetrics[] } | undefined;
  private reading: string | undefined;

  constructor(log: LogOutputChannel) {
    super();
    this.log = log;
  }

  /** Those that are known now, oldest first; if they have not been read yet, `onDidChange` fires when they are. */
  before(folder: string, runId: string): readonly RunMetrics[] {
    const key = `${folder}\n${runId}`;
    if (this.shown?.key !== key && this.reading !== key) {
      this.reading = key;
      void this.read(folder, runId, key);
    }
    return this.shown?.key === key ? this.shown.metrics : [];
  }

  private async read(folder: string, runId: string, key: string): Promise<void> {
    try {
      const files = new RunFiles(folder);
      const ids = (await begunRunIds(files)).filter(id => id !== runId).slice(-MAX_RUNS);
      const metrics: RunMetrics[] = [];
      for (const id of ids) {
        const found = await this.metricsOf(files.journalFile(id));
        metrics.push(...(found === undefined ? [] : [found]));
      }
      if (this.reading === key) {
        this.shown = { key, metrics };
        this.changeEmitter.fire();
      }
    } catch (error) {
      // The page is useful without the comparison.
      this.log.warn(`Earlier runs cannot be compared: ${messageOf(error)}`);
    }
  }

  private async metricsOf(journal: string): Promise<RunMetrics | undefined> {
    const { size: bytes } = await stat(journal);
    const known = this.known.get(journal);
    if (known?.bytes === bytes) {
      return known.metrics;
    }
    const metrics = runMetrics(await readJournal(journal));
    this.known.set(journal, { bytes, metrics });
    return metrics;
  }
}
