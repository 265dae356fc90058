import { homedir } from 'node:os';
import { type LogOutputChannel, l10n, workspace } from 'vscode';
import type { Words } from '../../base/say.ts';
import { askDoctor, type DoctorFinding } from '../../orchestrator/workspace/doctor.ts';
import { ContextKeyValue } from '../common/contextKey.ts';
import { Command, ContextKey } from '../common/contributions.ts';
import { Owner } from '../common/disposableStore.ts';
import { FixableError } from '../common/errors.ts';
import { translate } from '../common/translate.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import type { RunSettings } from '../settings/runSettings.ts';

/** Which account pays for the agents' work, determined by the environment variable `variable`. */
export interface Payer {
  readonly kind: 'login' | 'apiKey' | 'cloud' | 'none' | 'unknown';
  readonly variable?: string | undefined;
}

/** What was found out about the agent that a run would use. */
export type ClaudeState =
  | {
      readonly kind: 'found';
      readonly file: string;
      readonly version: string;
      readonly payer: Payer;
    }
  /** Another agent does the work, or the Agent SDK instead of the command line. */
  | { readonly kind: 'notNeeded'; readonly agent: string; readonly payer: Payer }
  /** `isAbsent`: it is in none of the usual places. */
  | { readonly kind: 'missing'; readonly problem: Words; readonly isAbsent: boolean };

/** Result for one folder: settings may differ between folders. */
interface Look {
  state?: ClaudeState;
  looking?: Promise<ClaudeState>;
}

/**
 * Whether Claude Code is available, as `ralph-fresh doctor` determines it with the settings of each folder. Checked
 * on request, only in trusted workspaces, and cached until settings change.
 */
export class ClaudeCheck extends Owner {
  private readonly key = new ContextKeyValue<ClaudeState['kind']>(ContextKey.claude);
  private readonly folders: Folders;
  private readonly settings: RunSettings;
  private readonly program: string;
  private readonly log: LogOutputChannel;
  /** By folder; `undefined` is the window without one. */
  private readonly looks = new Map<Folder | undefined, Look>();

  constructor(folders: Folders, settings: RunSettings, program: string, log: LogOutputChannel) {
    super();
    this.folders = folders;
    this.settings = settings;
    this.program = program;
    this.log = log;
    this.own(
      settings.onDidChange(() => {
        if (this.looks.size > 0) {
          this.looks.clear();
          this.lookSoon();
        }
      }),
    );
    this.own(
      folders.onDidChangeActive(() => {
        if (this.looks.size > 0) {
          this.lookSoon();
        }
      }),
    );
    this.own(
      folders.onDidChange(() => {
        for (const folder of this.looks.keys()) {
          if (folder !== undefined && !folders.all.includes(folder)) {
            this.looks.delete(folder);
          }
        }
      }),
    );
  }

  /**
   * Checks, unless the result is cached.
   * @param fresh ignores the cache
   * @throws {HumanError} in an untrusted workspace, or if the check itself fails
   */
  async look(
    folder: Folder | undefined,
    { fresh = false }: { readonly fresh?: boolean } = {},
  ): Promise<ClaudeState> {
    requireTrust();
    const before = this.looks.get(folder);
    if (!fresh && before?.state !== undefined) {
      this.tell(folder, before.state);
      return before.state;
    }
    if (!fresh && before?.looking !== undefined) {
      return before.looking;
    }
    const look: Look = {};
    this.looks.set(folder, look);
    look.looking = this.ask(folder)
      .then(state => {
        look.state = state;
        // Settings may have changed meanwhile, and a newer check uses them now.
        if (this.looks.get(folder) === look) {
          this.tell(folder, state);
        }
        return state;
      })
      .finally(() => {
        if (look.state === undefined && this.looks.get(folder) === look) {
          this.looks.delete(folder);
        }
      });
    return look.looking;
  }

  /** For callers that only display the result: reports no failures, and does nothing in an untrusted workspace. */
  lookSoon(): void {
    const { active } = this.folders;
    if (workspace.isTrusted && active !== undefined) {
      this.look(active).catch((error: unknown) => this.log.warn(String(error)));
    }
  }

  /**
   * @throws {FixableError} if the agent of a run is not available. It may have been installed since the last check.
   */
  async requireAgent(folder: Folder): Promise<void> {
    const before = this.looks.get(folder)?.state;
    const state = await this.look(folder, { fresh: before?.kind === 'missing' });
    if (state.kind === 'missing') {
      throw new FixableError(
        missingSentence(state),
        l10n.t('Find Claude Code'),
        Command.checkClaude,
        { folder: folder.path },
      );
    }
  }

  private async ask(folder: Folder | undefined): Promise<ClaudeState> {
    const findings = await askDoctor({
      program: this.program,
      workspace: folder?.path ?? homedir(),
      args: this.settings.runArguments(folder?.path),
      only: ['claude', 'sdk', 'payer'],
      env: process.env,
    });
    const state = claudeState(findings);
    this.log.info(`Claude Code for ${folder?.path ?? 'no folder'}: ${JSON.stringify(state)}`);
    return state;
  }

  /** Shows obstacles above the stories, for the active folder. */
  private tell(folder: Folder | undefined, { kind }: ClaudeState): void {
    if (folder === this.folders.active) {
      this.key.set(kind);
    }
  }
}

function claudeState(findings: readonly DoctorFinding[]): ClaudeState {
  const of = (id: string) => findings.find(finding => finding.id === id);
  const claude = of('claude');
  const { absent, agent = 'claude', file, version } = claude?.facts ?? {};
  const payer = agent === 'demo' ? ({ kind: 'none' } as const) : payerOf(agent, of('payer'));
  if (agent !== 'claude') {
    return { kind: 'notNeeded', agent, payer };
  }
  if (file !== undefined && version !== undefined) {
    return { kind: 'found', file, version, payer };
  }
  return of('sdk')?.facts['file'] === undefined
    ? {
        kind: 'missing',
        problem: claude?.said ?? claude?.message ?? '',
        isAbsent: absent === 'true',
      }
    : { kind: 'notNeeded', agent: 'sdk', payer };
}

function payerOf(agent: string, finding: DoctorFinding | undefined): Payer {
  const { payer, variable } = finding?.facts ?? {};
  const isKnown = payer === 'login' || payer === 'apiKey' || payer === 'cloud';
  return isKnown && agent !== 'command' ? { kind: payer, variable } : { kind: 'unknown' };
}

/** Why Claude Code is not usable; output of a program that was tried is English. */
export function missingSentence({
  isAbsent,
  problem,
}: ClaudeState & { readonly kind: 'missing' }): string {
  return isAbsent
    ? l10n.t(
        'Claude Code was not found: not on the PATH, and not in the folders that its installers use. Choose the program, or install it.',
      )
    : translate.said(problem);
}
