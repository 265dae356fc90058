import {
  type EventEmitter,
  type LogOutputChannel,
  l10n,
  type TreeDataProvider,
  type TreeItem,
  type TreeView,
  window,
} from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { readDecisions } from '../../orchestrator/journal/journal.ts';
import { rowWord } from '../../presentation/iterationWords.ts';
import { duration } from '../../presentation/translate.ts';
import { Command } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import { plainLabel } from '../common/plainText.ts';
import {
  type IterationRef,
  parseIterationRef,
  parseRunRef,
  parseStoryRef,
} from '../common/refs.ts';
import { registerCommands } from '../common/registerCommand.ts';
import { Throttle } from '../common/throttle.ts';
import { translate } from '../common/translate.ts';
import type { ActiveRun } from '../folders/activeRun.ts';
import type { Folders } from '../folders/folders.ts';
import { toTreeItem } from './iterationItems.ts';
import {
  childrenOf,
  type GroupNode,
  type IterationNode,
  IterationNodes,
  type IterationTreeNode,
  type RunNode,
} from './iterationNodes.ts';
import type { RunDocuments } from './runDocuments.ts';

/** Delay of updates in ms. Each update processes all events of a run, and an agent emits many. */
const FOLLOW_MS = 100;
/** Maximum length of a story id in a quick pick, in UTF-16 units. */
const MAX_ID = 60;

/** The lines of the Iterations view: the work of the active folder's runs, the newest first. */
export class IterationsView extends Owner implements TreeDataProvider<IterationTreeNode> {
  private readonly changeEmitter: EventEmitter<IterationTreeNode | IterationTreeNode[] | undefined>;
  private readonly runs: ActiveRun;
  private readonly folders: Folders;
  private readonly view: TreeView<IterationTreeNode>;
  private newest: { readonly key: string; readonly nodes: IterationNodes } | undefined;
  private iterations: readonly IterationNode[] = [];
  /** The top lines of the newest run: its iterations, or groups of them if several agents may work at once. */
  private top: readonly (GroupNode | IterationNode)[] = [];
  private earlier: readonly RunNode[] = [];

  /** @param changed fires for lines that have changed */
  constructor(
    runs: ActiveRun,
    folders: Folders,
    view: TreeView<IterationTreeNode>,
    changed: EventEmitter<IterationTreeNode | IterationTreeNode[] | undefined>,
    documents: RunDocuments,
    log: LogOutputChannel,
  ) {
    super();
    this.runs = runs;
    this.folders = folders;
    this.view = view;
    this.changeEmitter = changed;
    this.own(this.view.onDidChangeVisibility(() => this.update()));
    const update = this.own(new Throttle(() => this.update(), FOLLOW_MS));
    this.own(runs.onDidChange(() => update.call()));
    const open = (what: 'prompt' | 'transcript' | 'checks', title: string) => {
      return async (argument: unknown, line: unknown) => {
        const ref = parseIterationRef(argument) ?? (await this.choose(title));
        if (ref !== undefined) {
          await documents.openIteration(what, ref, typeof line === 'number' ? line : undefined);
        }
      };
    };
    this.own(
      registerCommands(log, {
        [Command.openPrompt]: open('prompt', l10n.t('Open the prompt of')),
        [Command.openTranscript]: open('transcript', l10n.t('Open the transcript of')),
        [Command.openCheckOutput]: open('checks', l10n.t('Open the check output of')),
        [Command.showReceipt]: argument => this.showReceipt(documents, argument),
      }),
    );
  }

  getTreeItem(node: IterationTreeNode): TreeItem {
    return toTreeItem(node);
  }

  async getChildren(node?: IterationTreeNode): Promise<IterationTreeNode[]> {
    switch (node?.kind) {
      case undefined:
        this.build();
        return [...this.top, ...this.earlier];
      case 'group':
        return [...node.children];
      case 'iteration':
        return childrenOf(node);
      case 'run':
        return this.iterationsOf(node);
      default:
        return [];
    }
  }

  private update(): void {
    if (!this.view.visible) {
      // It is rebuilt when it becomes visible.
      return;
    }
    const before = [...this.top, ...this.earlier];
    const changed = this.build();
    const after = [...this.top, ...this.earlier];
    if (before.length !== after.length || before.some((node, index) => node !== after[index])) {
      this.changeEmitter.fire(undefined);
    } else if (changed.length > 0) {
      this.changeEmitter.fire([...changed]);
    }
  }

  /** @returns lines that have changed, or have other lines below them */
  private build(): readonly (GroupNode | IterationNode)[] {
    const { current, events, folder, states } = this.runs;
    const { runId } = current;
    this.view.description = this.folders.all.length > 1 ? (folder?.name ?? '') : '';
    if (folder === undefined || runId === undefined) {
      this.newest = undefined;
      this.iterations = [];
      this.top = [];
      this.earlier = [];
      return [];
    }
    const key = `${folder.path}\0${runId}`;
    if (this.newest?.key !== key) {
      this.newest = { key, nodes: new IterationNodes(folder.path, runId, translate) };
    }
    const { nodes, changed } = this.newest.nodes.update(events, current.alive);
    this.iterations = nodes;
    const grouped =
      current.alive && current.state.isolated ? this.newest.nodes.grouped(nodes) : undefined;
    this.top = grouped?.groups ?? nodes;
    const known = new Map(this.earlier.map(node => [node.state, node]));
    this.earlier = states
      .slice(0, -1)
      .reverse()
      .flatMap(state =>
        state.runId === undefined
          ? []
          : [
              known.get(state) ?? {
                kind: 'run' as const,
                folder: folder.path,
                runId: state.runId,
                state,
              },
            ],
      );
    return [...changed, ...(grouped?.changed ?? [])];
  }

  private async iterationsOf({ folder, runId }: RunNode): Promise<IterationTreeNode[]> {
    const files = this.folders.at(folder)?.files;
    if (files === undefined) {
      return [];
    }
    const events = await readDecisions(files.journalFile(runId));
    return [...new IterationNodes(folder, runId, translate).update(events, false).nodes];
  }

  /** For the palette, which passes no iteration. */
  private async choose(title: string): Promise<IterationRef | undefined> {
    await this.runs.refresh();
    this.build();
    if (this.iterations.length === 0) {
      throw new HumanError(
        l10n.t(
          'No iteration has begun in this folder yet. Start a run with "Ralph: Start Fresh Run".',
        ),
      );
    }
    const picks = this.iterations.map(({ ref, row }) => ({
      ref,
      label: l10n.t('Iteration {0}', row.number),
      description: [plainLabel(row.storyId ?? '', MAX_ID), rowWord(row, translate)]
        .filter(Boolean)
        .join(' · '),
      detail: row.durationMs !== undefined ? duration(row.durationMs, translate) : undefined,
    }));
    return (await window.showQuickPick(picks, { title, matchOnDescription: true }))?.ref;
  }

  /** The receipt of an iteration, of a story over all runs, or of the newest run. */
  private async showReceipt(documents: RunDocuments, argument: unknown): Promise<void> {
    const iteration = parseIterationRef(argument);
    const story = parseStoryRef(argument);
    if (iteration !== undefined) {
      await documents.openIteration('receipt', iteration);
    } else if (story !== undefined) {
      await documents.openStoryReceipt(story);
    } else {
      const { folder, runId } = parseRunRef(argument) ?? {
        folder: this.runs.folder?.path,
        runId: this.runs.current.runId,
      };
      if (folder === undefined || runId === undefined) {
        throw new HumanError(
          l10n.t(
            'There has been no run in this folder yet. Start one with "Ralph: Start Fresh Run".',
          ),
        );
      }
      await documents.openRunReceipt(folder, runId);
    }
  }
}
