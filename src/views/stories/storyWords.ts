import { l10n, type ThemeIcon } from 'vscode';
import { once } from '../../base/once.ts';
import { shorten } from '../../base/text.ts';
import type { AgentInLane, StoryState } from '../../presentation/storyState.ts';
import {
  doingWords,
  landingWords,
  minuteWords,
  returnedWords,
} from '../../presentation/workWords.ts';
import { themeIcon } from '../common/themeIcon.ts';
import { translate } from '../common/translate.ts';

/**
 * A story's state in words, for the line's description and the screen reader.
 * @param now in ms since the epoch, for places that are drawn again when a minute is over
 */
export function stateWords(state: StoryState, now?: number): string {
  switch (state.kind) {
    case 'running':
      return state.agent === undefined ? stepWords(state) : laneWords(state, state.agent, now);
    case 'queued':
      return state.isActive
        ? l10n.t('waits to land')
        : l10n.t('waits to land when the run continues');
    case 'landing':
      return landingWords(state.step, translate);
    case 'returned':
      return returnedWords(state.work, translate);
    case 'skipped':
      return state.by === 'person' ? kindName(state.kind) : l10n.t('skipped · stuck');
    case 'needsYou':
      return l10n.t('needs you · {0}', shorten(state.message, 120));
    case 'blocked':
      return l10n.t('blocked · {0}', shorten(state.message, 120));
    case 'failed':
      return state.times === 1 ? l10n.t('failed once') : l10n.t('failed {0}×', state.times);
    case 'stuck':
      return l10n.t('stuck · no progress for {0} iterations', state.iterations);
    case 'waiting':
      return l10n.t('waits for {0}', shorten(state.for.join(', '), 80));
    case 'parked':
      return state.status === ''
        ? kindName(state.kind)
        : l10n.t('put aside · {0}', shorten(state.status, 40));
    case 'later':
      return l10n.t('after the tag {0}', shorten(state.tag, 40));
    default:
      return kindName(state.kind);
  }
}

/** The agent works in the person's own tree. */
function stepWords({ iteration, step }: Extract<StoryState, { kind: 'running' }>): string {
  switch (step) {
    case 'gate':
      return l10n.t('checking · iteration {0}', iteration);
    case 'review':
      return l10n.t('reviewing · iteration {0}', iteration);
    case 'limit':
      return l10n.t('waits for the usage limit · iteration {0}', iteration);
    default:
      return l10n.t('running · iteration {0}', iteration);
  }
}

function laneWords(
  { step }: Extract<StoryState, { kind: 'running' }>,
  { doing, isLast, lane, since }: AgentInLane,
  now: number | undefined,
): string {
  return [
    // First what changes: a narrow side bar cuts off the rest.
    step === 'limit' ? l10n.t('waits for the usage limit') : doingWords(doing, translate),
    l10n.t('lane {0}', lane),
    ...(now === undefined ? [] : minuteWords(since, now, translate)),
    ...(isLast ? [l10n.t('pauses after this')] : []),
  ].join(' · ');
}

/**
 * Each kind of state has its own icon: in a narrow side bar a long title leaves no room for the words, and many
 * people cannot distinguish colors.
 */
const STATE_ICONS: Readonly<Record<StoryState['kind'], readonly [icon: string, color?: string]>> = {
  running: ['sync~spin', 'progressBar.background'],
  queued: ['git-pull-request', 'progressBar.background'],
  landing: ['git-merge', 'progressBar.background'],
  paused: ['debug-pause', 'disabledForeground'],
  returned: ['reply', 'problemsWarningIcon.foreground'],
  settling: ['git-compare', 'charts.blue'],
  done: ['pass-filled', 'testing.iconPassed'],
  doneByHand: ['check', 'testing.iconPassed'],
  unjudged: ['law', 'problemsWarningIcon.foreground'],
  claimed: ['pass', 'testing.iconPassed'],
  verified: ['verified', 'testing.iconPassed'],
  approved: ['verified-filled', 'testing.iconPassed'],
  skipped: ['debug-step-over', 'disabledForeground'],
  needsYou: ['bell-dot', 'problemsErrorIcon.foreground'],
  blocked: ['circle-slash', 'problemsWarningIcon.foreground'],
  failed: ['error', 'testing.iconFailed'],
  stuck: ['warning', 'problemsWarningIcon.foreground'],
  waiting: ['issue-draft', 'disabledForeground'],
  parked: ['archive', 'disabledForeground'],
  later: ['watch', 'disabledForeground'],
  next: ['arrow-circle-right', 'charts.blue'],
  ready: ['circle-large-outline'],
};

/** The icon of a state. */
export function stateIcon(state: StoryState): ThemeIcon {
  // While it waits for something, nothing happens, so the icon does not spin.
  if (state.kind === 'running' && state.step === 'limit') {
    return themeIcon(['sync', 'progressBar.background']);
  }
  return themeIcon(STATE_ICONS[state.kind]);
}

/** The name of a kind of state in the filter. */
export function kindName(kind: StoryState['kind']): string {
  return kindNames()[kind];
}

const kindNames = once(
  (): Readonly<Record<StoryState['kind'], string>> => ({
    running: l10n.t('running'),
    queued: l10n.t('waits to land'),
    landing: l10n.t('landing'),
    paused: l10n.t('paused'),
    returned: l10n.t('returned'),
    settling: l10n.t('you settle its conflict'),
    done: l10n.t('done'),
    doneByHand: l10n.t('done by hand'),
    unjudged: l10n.t('not judged yet'),
    claimed: l10n.t('claimed'),
    verified: l10n.t('verified'),
    approved: l10n.t('approved'),
    skipped: l10n.t('skipped'),
    needsYou: l10n.t('needs you'),
    blocked: l10n.t('blocked'),
    failed: l10n.t('failed'),
    stuck: l10n.t('stuck'),
    waiting: l10n.t('waiting'),
    parked: l10n.t('put aside'),
    later: l10n.t('after another tag'),
    next: l10n.t('next'),
    ready: l10n.t('ready'),
  }),
);
