import type * as z from 'zod';
import { fenceAfter } from '../../../base/codeFence.ts';
import { jsonOf } from '../../../base/jsonOf.ts';
import { type Message, say, type Words, withTexts } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { findJsonError } from '../../stories/formats/jsonError.ts';
import { TextLines } from '../../stories/formats/textLines.ts';
import type { CallResult } from './callAgent.ts';

/** Length of an answer's end that is searched, in UTF-16 units. */
const MAX_TEXT = 1_000_000;
/** Maximum number of reported problems per answer. */
const MAX_PROBLEMS = 20;
const MAX_PROBLEM = 300;

/** The JSON object of an answer, not validated; or why there is none. */
export type AnswerJson =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly problem: Message };

/**
 * Finds the JSON object that an agent was asked for: the structured answer; otherwise the last code block that is a
 * JSON object; otherwise the text between the first and the last brace. Pure; never throws.
 */
export function answerJson({
  structured,
  text,
}: Pick<CallResult, 'structured' | 'text'>): AnswerJson {
  if (isObject(structured)) {
    return { value: structured };
  }
  const tail = text.slice(-MAX_TEXT);
  const candidates = [...codeBlocks(tail).reverse(), ...betweenBraces(tail)];
  for (const candidate of candidates) {
    const value = jsonOf(candidate);
    if (isObject(value)) {
      return { value };
    }
  }
  const broken = candidates.find(candidate => candidate.trim().startsWith('{'));
  const error = broken === undefined ? undefined : findJsonError(broken, new TextLines(broken));
  return {
    problem:
      error === undefined
        ? say('The answer contains no JSON object.')
        : say('The answer is not valid JSON: {0}', error.message),
  };
}

/** The errors of a schema, one sentence each, with the path: `userStories[2].title: …`. */
export function problemsOf(error: z.ZodError): Message[] {
  return boundedProblems(
    error.issues.map(issue => {
      const place = issue.path
        .map(key => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
        .join('')
        .replace(/^\./, '');
      return place === ''
        ? say('The answer: {0}.', issueWords(issue))
        : say('{0}: {1}.', place, issueWords(issue));
    }),
  );
}

/** The expectation in words for agents and people; the messages of zod are not suitable. */
function issueWords(issue: z.core.$ZodIssue): Words {
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_WORDS[issue.expected]?.() ?? issue.message;
    case 'too_small':
      if (issue.minimum === 1 && (issue.origin === 'string' || issue.origin === 'array')) {
        return say('must not be empty');
      }
      switch (issue.origin) {
        case 'string':
          return say('must have at least {0} characters', String(issue.minimum));
        case 'array':
          return say('must have at least {0} entries', String(issue.minimum));
        default:
          return say('must be at least {0}', String(issue.minimum));
      }
    case 'too_big':
      switch (issue.origin) {
        case 'string':
          return issue.maximum === 1
            ? say('must have at most 1 character')
            : say('must have at most {0} characters', String(issue.maximum));
        case 'array':
          return issue.maximum === 1
            ? say('must have at most 1 entry')
            : say('must have at most {0} entries', String(issue.maximum));
        default:
          return say('must be at most {0}', String(issue.maximum));
      }
    default:
      // A key written in the schema.
      return { key: issue.message, args: [] };
  }
}

const TYPE_WORDS: Readonly<Record<string, () => Message>> = {
  string: () => say('must be a text'),
  number: () => say('must be a number'),
  int: () => say('must be a whole number'),
  boolean: () => say('must be true or false'),
  array: () => say('must be a list'),
  object: () => say('must be an object'),
};

/** The first problems, with short values. */
export function boundedProblems(problems: readonly Message[]): Message[] {
  const shown = problems
    .slice(0, MAX_PROBLEMS)
    .map(problem => withTexts(problem, text => shorten(text, MAX_PROBLEM)));
  const rest = problems.length - shown.length;
  if (rest === 0) {
    return shown;
  }
  return [
    ...shown,
    rest === 1 ? say('…and 1 more problem.') : say('…and {0} more problems.', rest),
  ];
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The bodies of the text's code blocks. JSON cannot contain a closing fence, because its strings have no line
 * breaks.
 */
function codeBlocks(text: string): string[] {
  const blocks: string[] = [];
  let fence: string | undefined;
  let body: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const before = fence;
    fence = fenceAfter(line.trimStart(), fence);
    if (before === undefined) {
      body = [];
    } else if (fence === undefined) {
      blocks.push(body.join('\n'));
    } else {
      body.push(line);
    }
  }
  if (fence !== undefined) {
    blocks.push(body.join('\n'));
  }
  return blocks;
}

function betweenBraces(text: string): string[] {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  return from === -1 ? [] : [text.slice(from, to > from ? to + 1 : text.length)];
}
