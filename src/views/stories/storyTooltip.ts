import { l10n, MarkdownString } from 'vscode';
import { idWithTitle } from '../../base/storyTitle.ts';
import { shorten, withoutControls } from '../../base/text.ts';
import { iterationRows } from '../../orchestrator/journal/iterationRows.ts';
import { descriptionBelow } from '../../orchestrator/stories/story.ts';
import { choiceWords } from '../../presentation/choiceWords.ts';
import { discoveryOrigin } from '../../presentation/discoveryLines.ts';
import { reasonWords, returnedSentence } from '../../presentation/iterationWords.ts';
import type { StoryState } from '../../presentation/storyState.ts';
import { clock } from '../../presentation/translate.ts';
import { appendWords } from '../common/plainText.ts';
import { translate } from '../common/translate.ts';
import type { RunModel } from '../folders/runModel.ts';
import type { DiscoveryNode, StoryNode, StoryTreeNode } from './storyTree.ts';
import { kindName, stateWords } from './storyWords.ts';

const MAX_LABEL = 200;
/** Of the output of a check. */
const MAX_LINES = 8;
const MAX_LINE = 120;
/** Maximum length of a quotation, in UTF-16 units. */
const MAX_MESSAGE = 800;
/** States whose reason is shown; blocked stories and questions contain it in their state. */
const STRUGGLING: ReadonlySet<StoryState['kind']> = new Set(['failed', 'stuck', 'skipped']);

/**
 * The tooltip of a line; `undefined` if the line itself says everything.
 * @param runs of its folder, as far as they are loaded
 */
export function toTooltip(
  node: StoryTreeNode,
  runs: Pick<RunModel, 'current' | 'events'> | undefined,
): MarkdownString | string | undefined {
  switch (node.kind) {
    case 'story':
      return storyTooltip(node, runs && reasonOf(node, runs));
    case 'criterion':
      return appendWords(new MarkdownString(), shorten(node.criterion.text, 800));
    case 'discovery':
      return discoveryTooltip(node);
    case 'commit':
      return l10n.t(
        '{0} · iteration {1} · {2}',
        shorten(node.commit.subject, MAX_LABEL),
        node.commit.iteration,
        clock(Date.parse(node.commit.at), Date.now(), translate),
      );
    default:
      return undefined;
  }
}

/** Why the last iteration on a story without progress had its outcome. */
function reasonOf(
  { state, story }: StoryNode,
  { current, events }: Pick<RunModel, 'current' | 'events'>,
): string | undefined {
  if (!STRUGGLING.has(state.kind)) {
    return undefined;
  }
  const row = iterationRows(events, { alive: current.alive }).findLast(
    ({ outcome, storyId }) => storyId === story.id && outcome !== 'running',
  );
  const reason = row?.reason && reasonWords(row.reason, translate);
  return reason === undefined || row === undefined
    ? undefined
    : l10n.t('Iteration {0}: {1}', row.number, reason);
}

/** The details of a state, if it has any; text of agents in full. */
export function stateMeaning(state: StoryState): string | undefined {
  switch (state.kind) {
    case 'running':
      return state.agent && l10n.t('iteration {0}', state.iteration);
    case 'queued':
      return l10n.t('its agent has finished; stories land on the branch one after the other');
    case 'landing':
      return l10n.t('its agent has finished, and its work is on its way to the branch');
    case 'paused':
      return l10n.t('as you asked, it gets no further agent until you continue it');
    case 'returned':
      return [
        // Whether it gets another agent depends on limits that the journal does not have.
        l10n.t('its work did not land, and the story is open again'),
        returnedSentence(state.work, translate),
      ]
        .filter(Boolean)
        .join('. ');
    case 'settling':
      return l10n.t('no agent works on it until you land it, or give it back');
    case 'unjudged':
      return l10n.t(
        'its agent marked it as done, but the run ended before that was judged; the next run does that first',
      );
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
    case 'later':
      return l10n.t('the tasks of that tag come first, unless you run this one alone');
    case 'next':
      return l10n.t('its turn comes first');
    default:
      return undefined;
  }
}

/** Short words, without the details that the meaning next to them contains in full. */
function shortWords(state: StoryState): string {
  switch (state.kind) {
    case 'needsYou':
    case 'blocked':
    case 'waiting':
    case 'returned':
      return kindName(state.kind);
    default:
      return stateWords(state);
  }
}

/** The end of a check's output, in its own lines. */
function appendLastLines(tooltip: MarkdownString, output: string): void {
  const lines = shortenLines(withoutControls(output));
  if (lines !== '') {
    tooltip.appendCodeblock(lines, 'text');
  }
}

function shortenLines(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .slice(-MAX_LINES)
    .map(line => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line))
    .join('\n');
}

function storyTooltip({ story, state }: StoryNode, reason: string | undefined): MarkdownString {
  const tooltip = new MarkdownString();
  appendWords(tooltip.appendMarkdown('**'), shorten(idWithTitle(story.id, story.title), 400));
  const means = stateMeaning(state);
  tooltip.appendMarkdown('**\n\n');
  appendWords(tooltip, means === undefined ? stateWords(state) : `${shortWords(state)} — ${means}`);
  if (state.kind === 'returned' && state.work.reason === 'checks') {
    appendLastLines(tooltip, state.work.check.output);
  }
  if (reason !== undefined) {
    appendWords(tooltip.appendMarkdown('\n\n'), reason);
  }
  const facts = [
    ...(story.epic === undefined ? [] : [shorten(story.epic, 100)]),
    ...(story.priority === undefined ? [] : [l10n.t('priority {0}', story.priority)]),
    ...(story.dependsOn.length === 0
      ? []
      : [l10n.t('depends on {0}', shorten(story.dependsOn.join(', '), 120))]),
    ...choiceWords(story, translate),
  ];
  if (facts.length > 0) {
    appendWords(tooltip.appendMarkdown('\n\n'), facts.join(' · '));
  }
  // A long title is shortened above.
  const description = descriptionBelow(story, shorten(story.title, 300));
  if (description !== '') {
    appendWords(tooltip.appendMarkdown('\n\n'), shorten(description, 800));
  }
  return tooltip;
}

/** What it was discovered from, and why it is needed. */
function discoveryTooltip({ discovery }: DiscoveryNode): MarkdownString {
  const tooltip = new MarkdownString();
  appendWords(tooltip.appendMarkdown('**'), shorten(discovery.title, 300));
  tooltip.appendMarkdown('**');
  const origin = discoveryOrigin(discovery, translate);
  if (origin !== '') {
    appendWords(tooltip.appendMarkdown('\n\n'), origin);
  }
  return appendWords(tooltip.appendMarkdown('\n\n'), discovery.id);
}
