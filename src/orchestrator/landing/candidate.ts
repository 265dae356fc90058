import { isUtf8 } from 'node:buffer';
import { type Message, say } from '../../base/say.ts';
import { titleAfterId } from '../../base/storyTitle.ts';
import { shorten } from '../../base/text.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { gitOutput, writeGit } from '../git/runGit.ts';
import { trailersNamed, withTrailers } from '../git/trailers.ts';
import { KEEPER } from '../places/placeHolding.ts';
import type { Conflict } from './conflict.ts';
import {
  hasEntries,
  type LandingStory,
  type SharedFiles,
  withEntries,
  withTick,
} from './sharedFiles.ts';
import { mergeSharing, type SharedViews } from './sharedMerge.ts';

/** The work of an agent that is to land. */
export interface CandidateOptions extends SharedFiles {
  /** Absolute path of the user's top folder. */
  readonly root: string;
  /** Full hash of the commit that it lands on. */
  readonly target: string;
  /** Full hash of the agent's HEAD. */
  readonly work: string;
  /** Full hash of the commit where the agent started. */
  readonly base: string;
  /** The story that is done with it; absent: none. */
  readonly story?: LandingStory;
  /** What the agent has appended to its progress log, or ''. */
  readonly progressText: string;
  /** `squash` makes one commit of several; one commit is always landed as one. */
  readonly landAs: 'merge' | 'squash';
  /** By name, such as `Ralph-Story`. */
  readonly trailers: Readonly<Record<string, string>>;
}

/** A commit that no ref leads to yet. */
export interface Candidate {
  readonly kind: 'candidate';
  /** Full hash. */
  readonly commit: string;
  /** Why the story file has no tick, although it should have one. */
  readonly notTicked?: Message;
}

/** The target has everything already. */
export interface NothingToLand {
  readonly kind: 'nothing';
  readonly notTicked?: Message;
}

interface AgentCommit {
  readonly parents: number;
  /** It is ours: what the agent had not committed. */
  readonly isKept: boolean;
  readonly author: Readonly<Record<string, string>>;
  readonly message: string;
}

const MAX_SUBJECT = 200;
/** Git removes these at both ends of a name, and refuses a name without other characters. */
const NO_NAME = /^[\s\p{Cc}.,:;<>"\\']*$/u;

/**
 * Makes the commit that is to land: the target with the agent's work, the story's tick and the agent's notes. Only
 * creates git objects; work tree, index and refs stay as they are.
 *
 * @returns what both sides have changed, if git cannot merge it
 * @throws {HumanError} with git's message: git is too old, no author is configured, the disk is full
 */
export async function makeCandidate(
  options: CandidateOptions,
): Promise<Candidate | NothingToLand | Conflict> {
  try {
    return await candidate(options);
  } catch (error) {
    throw asHumanError(error, say('git cannot bring in the work of an agent'));
  }
}

async function candidate(options: CandidateOptions): Promise<Candidate | NothingToLand | Conflict> {
  const { base, root, target, work } = options;
  const changes = new OwnChanges(options);
  const [commits, merged] = await Promise.all([
    commitsOf(root, work, [base, target]),
    mergeSharing(root, {
      target,
      work,
      start: base,
      shared: options,
      contents: views => changes.contents(views),
    }),
  ]);
  if (merged.kind === 'conflict') {
    return merged;
  }
  const { tree } = merged;
  const { notTicked } = changes;
  if (tree === merged.targetTree) {
    return { kind: 'nothing', notTicked };
  }
  // What a merge brings in was made by other commits.
  const made = commits.filter(({ parents }) => parents < 2);
  const isLeft = commits[0]?.isKept === true;
  // What an agent has not committed is no commit of its own.
  const own = isLeft ? made.slice(1) : made;
  const form =
    commits.length === 0
      ? 'own'
      : // A merge would bring back the commits that a person has removed.
        own.length > 1 && options.landAs === 'merge' && !merged.isRewritten
        ? 'merge'
        : 'commit';
  const [last, ...others] = made.length > 0 ? own : commits;
  const message = messageOf(options, { form, last, others, isLeft, isTicked: changes.isTicked });
  const second = form === 'merge' ? (isLeft ? await leftAsOwn(options) : work) : undefined;
  const parents = second === undefined ? [target] : [target, second];
  const commit = await commitTree(root, {
    ...{ tree, parents, message },
    author: form === 'commit' ? last?.author : undefined,
  });
  return { kind: 'candidate', commit, notTicked };
}

/** What an agent has not committed, as a commit of the person who runs it. */
function leftAsOwn({ root, story, work }: CandidateOptions): Promise<string> {
  return commitTree(root, {
    ...{ tree: `${work}^{tree}`, parents: [`${work}^`], message: `${storySubject(story)}\n` },
    author: undefined,
  });
}

/** @param commit.author default: the person, as git knows them */
async function commitTree(
  root: string,
  commit: {
    readonly tree: string;
    readonly parents: readonly string[];
    readonly message: string;
    readonly author: Readonly<Record<string, string>> | undefined;
  },
): Promise<string> {
  const { author, message, parents, tree } = commit;
  const args = [
    ...['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', tree],
    ...parents.flatMap(parent => ['-p', parent]),
  ];
  return (await writeGit(root, args, { input: message, moreEnv: author })).trim();
}

/** What becomes of the shared files. */
class OwnChanges {
  private readonly options: CandidateOptions;
  isTicked = false;
  notTicked: Message | undefined;

  constructor(options: CandidateOptions) {
    this.options = options;
  }

  contents({ isSameElsewhere, target }: SharedViews): Map<string, Buffer> {
    const { progressFile, progressText, story, storyFile } = this.options;
    const contents = new Map<string, Buffer>();
    const stories = storyFile === undefined ? undefined : target.file(storyFile);
    if (stories !== undefined && storyFile !== undefined && story !== undefined) {
      const ticked = withTick(stories, storyFile, story);
      if ('notTicked' in ticked) {
        this.notTicked = ticked.notTicked;
      } else {
        this.isTicked = !ticked.content.equals(stories);
        contents.set(storyFile, ticked.content);
      }
    }
    const log = progressFile === undefined ? undefined : target.file(progressFile);
    if (log !== undefined && progressFile !== undefined) {
      // Work that has landed before must not append its notes once more.
      const isKnown = isSameElsewhere && !this.isTicked && hasEntries(log, progressText);
      contents.set(progressFile, isKnown ? log : withEntries(log, progressText));
    }
    return contents;
  }
}

/** The commits that only the agent's history has, newest first. */
async function commitsOf(
  root: string,
  work: string,
  without: readonly string[],
): Promise<AgentCommit[]> {
  const output = await gitOutput(root, [
    ...['--no-optional-locks', 'log', '-z', '--topo-order', '--no-show-signature', '--no-color'],
    ...['--encoding=UTF-8', '--date=raw', '--format=%P%x00%an%x00%ae%x00%ad%x00%B'],
    ...[work, ...without.map(commit => `^${commit}`), '--'],
  ]);
  const fields = fieldsOf(output);
  const commits: AgentCommit[] = [];
  for (let i = 0; i + 4 < fields.length; i += 5) {
    const [parents = '', name = '', mail = '', date = '', message = ''] = fields.slice(i, i + 5);
    commits.push({
      parents: parents.split(' ').length,
      isKept: name === KEEPER.name && mail === KEEPER.email,
      author: authorEnv(name, mail, date),
      message: message.replace(/\r\n?/g, '\n'),
    });
  }
  return commits;
}

/**
 * The texts between NULs. Git has converted those whose encoding it knows; the others are most likely Latin-1, as
 * git itself assumes.
 */
function fieldsOf(output: Buffer): string[] {
  const fields: string[] = [];
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from);
    const field = output.subarray(from, end === -1 ? output.length : end);
    fields.push(isUtf8(field) ? field.toString('utf8') : field.toString('latin1'));
    from += field.length + 1;
  }
  return fields;
}

/** For a commit by the same author. Without a valid name or date, git would refuse it. */
function authorEnv(name: string, mail: string, date: string): Record<string, string> {
  const names = [name, mail].filter(one => !NO_NAME.test(one));
  return {
    GIT_AUTHOR_NAME: names[0] ?? 'unknown',
    GIT_AUTHOR_EMAIL: mail,
    ...(/^\d+ [+-]\d{4}$/.test(date) && { GIT_AUTHOR_DATE: `@${date}` }),
  };
}

interface MessageParts {
  /**
   * - `commit`: the agent's work as one commit
   * - `merge`: joins its commits
   * - `own`: a commit of ours, with nothing but the tick and the notes
   */
  readonly form: 'commit' | 'merge' | 'own';
  /** There is something that the agent has not committed. */
  readonly isLeft: boolean;
  /** The agent's last commit, and the others. */
  readonly last: AgentCommit | undefined;
  readonly others: readonly AgentCommit[];
  readonly isTicked: boolean;
}

function messageOf(
  { story, trailers }: CandidateOptions,
  { form, isLeft, isTicked, last, others }: MessageParts,
): string {
  const id = story === undefined ? undefined : shorten(story.id, MAX_SUBJECT);
  const what = isTicked ? 'done' : 'notes of an agent';
  const ownSubject = isLeft
    ? storySubject(story)
    : id === undefined
      ? 'Work of an agent'
      : `${id}: ${what}`;
  if (last === undefined) {
    return withTrailers(ownSubject, trailers);
  }
  const subject = subjectOf(last.message) || ownSubject;
  if (form === 'commit' && others.length === 0) {
    return withTrailers(last.message.trim() === '' ? subject : last.message, trailers);
  }
  const title = shorten(titleAfterId(story?.id ?? '', story?.title ?? ''), MAX_SUBJECT);
  const body =
    form === 'merge'
      ? id === undefined
        ? ''
        : `Story ${id}${title}`
      : others.map(({ message }) => `- ${subjectOf(message) || '(no message)'}`).join('\n');
  const authors = [last, ...others].flatMap(({ message }) =>
    trailersNamed(message, 'Co-Authored-By'),
  );
  const block = form === 'merge' ? '' : [...new Set(authors)].join('\n');
  const message = [subject, body, block].filter(part => part !== '').join('\n\n');
  return withTrailers(message, trailers);
}

function storySubject(story: LandingStory | undefined): string {
  const [id = '', title = ''] = [story?.id, story?.title].map(text =>
    text?.replace(/\s+/g, ' ').trim(),
  );
  const words = id === '' ? title : `${id}${titleAfterId(id, title)}`;
  return shorten(words || 'Work of an agent', MAX_SUBJECT);
}

/** The first paragraph of a message as one line, as git shows it. */
function subjectOf(message: string): string {
  const [paragraph = ''] = message.trimStart().split(/\n[ \t]*\n/, 1);
  return paragraph.replace(/\s+/g, ' ').trim();
}
