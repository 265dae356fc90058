import { l10n, ThemeColor, ThemeIcon } from 'vscode';
import { assertNever } from '../../base/assertNever.ts';
import { shorten } from '../../base/text.ts';
import type { StoryState } from './storyState.ts';

/** Maximum length of a quotation in a tooltip, in UTF-16 units. */
const MAX_MESSAGE = 800;

/** A story's state in words, for the line's description and the screen reader. */
export function stateWords(state: StoryState): string {
  switch (state.kind) {
    case 'running':
      return state.step === 'gate'
        ? l10n.t('checking · iteration {0}', state.iteration)
        : state.step === 'review'
          ? l10n.t('reviewing · iteration {0}', state.iteration)
          : state.step === 'limit'
            ? l10n.t('waits for the usage limit · iteration {0}', state.iteration)
            : l10n.t('running · iteration {0}', state.iteration);
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
    default:
      return kindName(state.kind);
  }
}

/**
 * Each kind of state has its own icon: in a narrow side bar a long title leaves no room for the words, and many
 * people cannot distinguish colors.
 */
export function stateIcon(state: StoryState): ThemeIcon {
  switch (state.kind) {
    case 'running':
      // Nothing happens during a usage limit, so the icon does not spin.
      return new ThemeIcon(
        state.step === 'limit' ? 'sync' : 'sync~spin',
        new ThemeColor('progressBar.background'),
      );
    case 'done':
      return new ThemeIcon('pass-filled', new ThemeColor('testing.iconPassed'));
    case 'doneByHand':
      return new ThemeIcon('check', new ThemeColor('testing.iconPassed'));
    case 'claimed':
      return new ThemeIcon('pass', new ThemeColor('testing.iconPassed'));
    case 'verified':
      return new ThemeIcon('verified', new ThemeColor('testing.iconPassed'));
    case 'approved':
      return new ThemeIcon('verified-filled', new ThemeColor('testing.iconPassed'));
    case 'skipped':
      return new ThemeIcon('debug-step-over', new ThemeColor('disabledForeground'));
    case 'needsYou':
      return new ThemeIcon('bell-dot', new ThemeColor('problemsErrorIcon.foreground'));
    case 'blocked':
      return new ThemeIcon('circle-slash', new ThemeColor('problemsWarningIcon.foreground'));
    case 'failed':
      return new ThemeIcon('error', new ThemeColor('testing.iconFailed'));
    case 'stuck':
      return new ThemeIcon('warning', new ThemeColor('problemsWarningIcon.foreground'));
    case 'waiting':
      return new ThemeIcon('issue-draft', new ThemeColor('disabledForeground'));
    case 'parked':
      return new ThemeIcon('archive', new ThemeColor('disabledForeground'));
    case 'next':
      return new ThemeIcon('arrow-circle-right', new ThemeColor('charts.blue'));
    case 'ready':
      return new ThemeIcon('circle-large-outline');
    default:
      return assertNever(state);
  }
}

/** The details of a state, if it has any; text of agents in full. */
export function stateMeaning(state: StoryState): string | undefined {
  switch (state.kind) {
    case 'claimed':
      return l10n.t('its agent marked it as done in the story file; nobody else has checked it');
    case 'verified':
      return l10n.t('its agent marked it as done, and the checks passed');
    case 'approved':
      return l10n.t('its agent marked it as done, and a reviewer agreed');
    case 'skipped':
      return state.by === 'person'
        ? l10n.t('as you asked, this run does not work on it')
        : l10n.t('this run does not work on it, because it made no progress');
    case 'needsYou':
      return l10n.t('its agent asks: {0}', shorten(state.message, MAX_MESSAGE));
    case 'blocked':
      return l10n.t('its agent said: {0}', shorten(state.message, MAX_MESSAGE));
    case 'failed':
      return l10n.t('its last agent failed, or what it claimed was refused');
    case 'stuck':
      return l10n.t('its agents made no commit and finished no criterion');
    case 'waiting':
      return l10n.t('these must be done first: {0}', shorten(state.for.join(', '), MAX_MESSAGE));
    case 'parked':
      return l10n.t('the file says so, and runs ignore it');
    case 'next':
      return l10n.t('its turn comes first');
    default:
      return undefined;
  }
}

/** The name of a kind of state in the filter. */
export function kindName(kind: StoryState['kind']): string {
  switch (kind) {
    case 'running':
      return l10n.t('running');
    case 'done':
      return l10n.t('done');
    case 'doneByHand':
      return l10n.t('done by hand');
    case 'claimed':
      return l10n.t('claimed');
    case 'verified':
      return l10n.t('verified');
    case 'approved':
      return l10n.t('approved');
    case 'skipped':
      return l10n.t('skipped');
    case 'needsYou':
      return l10n.t('needs you');
    case 'blocked':
      return l10n.t('blocked');
    case 'failed':
      return l10n.t('failed');
    case 'stuck':
      return l10n.t('stuck');
    case 'waiting':
      return l10n.t('waiting');
    case 'parked':
      return l10n.t('put aside');
    case 'next':
      return l10n.t('next');
    case 'ready':
      return l10n.t('ready');
    default:
      return assertNever(kind);
  }
}
