import { assertNever } from '../base/assertNever.ts';
import { englishOf, sentences } from '../base/say.ts';
import { shellText, shellWord } from '../base/shellWord.ts';
import { titleNextTo } from '../base/storyTitle.ts';
import { sentence, shorten } from '../base/text.ts';
import type { StoryList } from '../orchestrator/stories/story.ts';
import { circleWords } from '../orchestrator/stories/storyProblems.ts';
import { unreadEntries } from '../orchestrator/stories/unreadParts.ts';
import { choiceWords } from './choiceWords.ts';
import { asideWords } from './hindrances.ts';
import { putAsideWords } from './sentences.ts';
import type { NextData, StoryData, StoryListData } from './storyListData.ts';
import { table } from './table.ts';
import { english } from './translate.ts';
import { answerCommand } from './waitingWords.ts';

/** Maximum lengths of texts in a line, in UTF-16 units. */
const MAX_ID = 40;
const MAX_TITLE = 100;
const MAX_QUESTION = 200;
/** Maximum number of named stories that another one waits for. */
const MAX_NAMED = 5;
/** Maximum number of hints on the format of the file. */
const MAX_HINTS = 5;

/** What suggested commands contain. */
interface Advice {
  /** A check that the project has. */
  readonly check?: string | undefined;
  /** The list, as it was named with `--file`. */
  readonly file?: string | undefined;
}

/** Stories as lines for a terminal, with the problems of their file below. */
export function storyListText(data: StoryListData, advice: Advice = {}): string {
  const { discovered, moreProblems, problems, source, stories } = data;
  const done = stories.filter(countsAsDone).length;
  const aside = stories.filter(({ state }) => state === 'parked').length;
  const later = stories.filter(({ state }) => state === 'later').length;
  const rows = stories.map(story => [
    countsAsDone(story) ? '✓' : '·',
    shorten(story.id, MAX_ID),
    stateWords(story),
    shorten(titleNextTo(story.id, story.title), MAX_TITLE),
  ]);
  return [
    [
      `${done}/${stories.length} stories complete`,
      ...(aside > 0 ? [`${aside} put aside`] : []),
      ...(later > 0 ? [`${later} after another tag`] : []),
      source,
    ].join(' · '),
    ...table(['', 'id', 'state', 'title'], rows, new Set([0, 1, 2, 3])),
    ...stories.flatMap(questionLine),
    ...stateLines(stories, advice),
    ...problemLines(problems),
    ...(moreProblems > 0
      ? [`…and ${moreProblems} more ${moreProblems === 1 ? 'problem' : 'problems'}`]
      : []),
    ...discoveredLine(discovered.length),
  ].join('\n');
}

/** That work waits for a person, if any does. */
export function discoveredLine(count: number): string[] {
  return count === 0
    ? []
    : [`Discovered by agents, and waiting for you: ${count} (ralph-fresh discovered)`];
}

function stateWords({ afterTag, blockedBy, question, state }: StoryData): string {
  if (question !== null) {
    return 'needs you';
  }
  if (state === 'settling') {
    return 'you settle it';
  }
  if (state === 'queued') {
    return 'waits to land';
  }
  if (state === 'parked') {
    return 'put aside';
  }
  if (state === 'later' && afterTag !== undefined) {
    return `after the tag ${shorten(afterTag, MAX_ID)}`;
  }
  return state === 'waiting' ? `waits for ${ids(blockedBy)}` : shorten(state, MAX_ID);
}

function questionLine({ id, question }: StoryData): string[] {
  return question === null
    ? []
    : [
        `${shorten(id, MAX_ID)} asks: ${sentence(shorten(question, MAX_QUESTION))} Answer with: ${answerCommand(id)}`,
      ];
}

/** What states mean whose words do not say it. */
function stateLines(stories: readonly StoryData[], { check, file }: Advice): string[] {
  const flags = fileFlags(file);
  const verify = `--verify ${check === undefined ? '"<command>"' : shellText(check)}`;
  const meanings = {
    // A run leaves alone what is done.
    claimed: `its agent marked the story as done, and nobody else has checked it. With ${verify}, the next run checks its stories; one that is done must be reopened first: ralph-fresh untick${flags} ID, then: ralph-fresh run${flags} ${verify}`,
    unjudged: `its agent marked the story as done, but the run ended before that was judged. "ralph-fresh run${flags}" does that first.`,
  };
  return Object.entries(meanings).flatMap(([kind, meaning]) =>
    stories.some(({ state }) => state === kind) ? [`${kind}: ${meaning}`] : [],
  );
}

/** Like `countStories`: an agent's claim counts when its iteration is over. */
function countsAsDone({ done, state }: StoryData): boolean {
  return done && state !== 'running' && state !== 'unjudged';
}

/** All problems, but only some of the hints: a file may have one per story. */
function problemLines(problems: StoryListData['problems']): string[] {
  const hints = problems.filter(({ severity }) => severity === 'info');
  const shown = [
    ...problems.filter(({ severity }) => severity !== 'info'),
    ...hints.slice(0, MAX_HINTS),
  ];
  const rest = hints.length - MAX_HINTS;
  return [
    ...shown.map(({ file, line, message }) =>
      file === undefined ? `Line ${line}: ${message}` : `${file}, line ${line}: ${message}`,
    ),
    ...(rest > 0 ? [`…and ${rest} more ${rest === 1 ? 'hint' : 'hints'}; --json shows all.`] : []),
  ];
}

/**
 * The next story in one line, or why there is none.
 * @param file the list, as it was named with `--file`
 */
export function nextText(
  next: NextData,
  list: Pick<StoryList, 'stories'> | StoryList,
  file?: string,
): string {
  const { stories } = list;
  const flags = fileFlags(file);
  if (next.id !== null) {
    const title = stories.find(story => story.id === next.id)?.title ?? '';
    const facts = [shorten(titleNextTo(next.id, title), MAX_TITLE), ...choiceWords(next, english)];
    return `${shorten(next.id, MAX_ID)}: ${facts.join(' · ')}`;
  }
  const { aside = [], waitsForAside: waiting = [] } = next;
  switch (next.reason) {
    case 'empty':
      return 'The story file contains no stories yet.';
    case 'allDone':
      return nothingToDo('All stories are', aside.length, {
        list: 'problems' in list ? list : undefined,
        file,
      });
    case 'unjudged': {
      const { unjudged = [] } = next;
      const claims = unjudged.length === 1 ? 'this claim is' : 'these claims are';
      return `No story is left for an agent, but ${claims} still to be judged: ${ids(unjudged)}. "ralph-fresh run" does that.`;
    }
    case 'working':
      return `No other story is ready. Agents work on ${ids(next.working ?? [])}.`;
    case 'waiting':
      if (next.circle !== undefined) {
        return `No story is ready, because these wait for each other: ${circleWords(next.circle)}. Remove one of these dependencies from the story file.`;
      }
      if (waiting.length > 0) {
        const first = waiting
          .slice(0, MAX_NAMED)
          .map(one => asideWords(one, english, `ralph-fresh tick${flags}`));
        return ['No story is ready.', ...first].join(' ');
      }
      return `No story is ready: all remaining ones wait for others. "ralph-fresh stories${flags}" shows which.`;
    case 'skipped': {
      const left = leftWords(next);
      if (left.length > 0) {
        return `No story is ready. ${left.join('\n')}`;
      }
      return 'No story is ready: the run skips all that could be next. "ralph-fresh skip ID --undo" undoes that.';
    }
    case 'invalid':
      return 'The story file cannot be used.';
    default:
      return assertNever(next.reason);
  }
}

/** What a person has to do with stories that get no agent. */
function leftWords({
  paused = [],
  queued = [],
  settling = [],
}: Extract<NextData, { readonly id: null }>): string[] {
  const [settled] = settling;
  const [stopped] = paused;
  return [
    ...(settled === undefined
      ? []
      : [`You settle ${ids(settling)}. Land it with: ralph-fresh land ${shellWord(settled)}`]),
    ...(queued.length === 0
      ? []
      : [`Waits to land when the run continues (ralph-fresh run --resume): ${ids(queued)}.`]),
    ...(stopped === undefined
      ? []
      : [
          `Paused: ${ids(paused)}. While the run is active, continue with: ralph-fresh resume ${shellWord(stopped)}`,
        ]),
  ];
}

/**
 * That a run would start no agent, and what comes next.
 * @param what is complete, with its verb
 * @param aside how many stories the file has put aside
 * @param list what may have entries that are not read as stories
 * @param file the list, as it was named with `--file`
 */
export function nothingToDo(
  what: string,
  aside: number,
  { file, list }: { readonly list: StoryList | undefined; readonly file: string | undefined },
): string {
  const others = aside > 0 ? ` ${putAsideWords(aside, english)}` : '';
  const unread = list && unreadEntries(list);
  const text = `${what} complete; there is nothing to do.${others} Add a story, or reopen one: ralph-fresh untick${fileFlags(file)} ID.`;
  return unread === undefined
    ? text
    : `${text}\nWarning: ${englishOf(sentences([unread.message, unread.next]))}`;
}

/** Flags of a suggested command: without them, it may find another list that has the same ids. */
export function fileFlags(file: string | undefined): string {
  return file === undefined ? '' : ` --file ${shellWord(file)}`;
}

function ids(blockedBy: readonly string[]): string {
  const named = blockedBy.slice(0, MAX_NAMED).map(id => shorten(id, MAX_ID));
  return blockedBy.length > MAX_NAMED ? `${named.join(', ')}, …` : named.join(', ');
}
