import * as z from 'zod';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { isInsider } from '../../stories/formats/issueCopy.ts';
import { type GithubApi, GithubError } from './githubApi.ts';
import { blockersOf, type GithubIssue, issueSchema } from './githubIssue.ts';
import type { GithubNotes } from './githubNotes.ts';
import type { GithubSource } from './githubSource.ts';

/** Of 100 issues each. */
const MAX_PAGES = 50;
/** Issues outside of the list that are asked for one by one. */
const MAX_OTHERS = 50;

const numbered = z.object({ number: z.int().positive(), title: z.string() });

export interface FoundIssues {
  readonly issues: readonly GithubIssue[];
  readonly pages: GithubNotes['pages'];
  readonly others: GithubNotes['others'];
  /** There are more than can be read. */
  readonly isCut: boolean;
}

/**
 * Reads all issues of a source, open and closed, page by page. What has not changed since the last look is not sent again
 * by GitHub, and costs nothing of its limit.
 * @throws {GithubError}
 */
export async function fetchIssues(
  api: GithubApi,
  source: GithubSource,
  notes: Pick<GithubNotes, 'pages' | 'others' | 'outsiders'>,
): Promise<FoundIssues> {
  const pages: GithubNotes['pages'] = {};
  const issues = new Map<number, GithubIssue>();
  let place: string | undefined = await listPlace(api, source);
  let count = 0;
  for (; place !== undefined && count < MAX_PAGES; count++) {
    const known: GithubNotes['pages'][string] | undefined = notes.pages[place];
    const answer = await api.get(place, known?.etag);
    const page: GithubNotes['pages'][string] =
      answer.isSame && known !== undefined
        ? known
        : {
            etag: answer.etag,
            next: answer.next,
            issues: readIssues(answer.data),
          };
    const kept = page.issues.map(issue => withoutText(issue, notes.outsiders));
    pages[place] = { ...page, issues: kept };
    for (const issue of kept) {
      issues.set(issue.number, issue);
    }
    place = page.next;
  }
  const found = [...issues.values()].sort((a, b) => a.number - b.number);
  const others = await fetchOthers(api, source, found, notes.others);
  return { issues: found, pages, others, isCut: place !== undefined };
}

/** Agents could read what we keep: of people who are not members, no word stays that is not asked for. */
function withoutText(issue: GithubIssue, includesOutsiders: boolean): GithubIssue {
  return includesOutsiders || isInsider(issue.author_association)
    ? issue
    : { ...issue, title: '', body: undefined };
}

function readIssues(data: unknown): GithubIssue[] {
  const list = z.array(z.unknown()).safeParse(data);
  if (!list.success) {
    throw new GithubError(
      'invalid',
      say(
        'What GitHub sent is not a list of issues. Is the address of its API right (github-url)?',
      ),
    );
  }
  return list.data.flatMap(item => {
    const issue = issueSchema.safeParse(item);
    return issue.success && issue.data.pull_request === undefined ? [issue.data] : [];
  });
}

/** Oldest first, so that a new issue changes only the last page. */
async function listPlace(api: GithubApi, { labels, milestone, repository }: GithubSource) {
  const sorted = { state: 'all', sort: 'created', direction: 'asc', per_page: '100' };
  const query = new URLSearchParams(sorted);
  if (labels.length > 0) {
    query.set('labels', labels.join(','));
  }
  if (milestone !== undefined) {
    query.set('milestone', `${await milestoneNumber(api, repository, milestone)}`);
  }
  return `/repos/${repository}/issues?${query}`;
}

async function milestoneNumber(
  api: GithubApi,
  repository: string,
  milestone: string,
): Promise<number> {
  const titles: string[] = [];
  let place: string | undefined = `/repos/${repository}/milestones?state=all&per_page=100`;
  for (let count = 0; place !== undefined && count < MAX_PAGES; count++) {
    const answer = await api.get(place);
    const list = z.array(numbered).safeParse(answer.data);
    for (const { number, title } of list.success ? list.data : []) {
      if (title === milestone) {
        return number;
      }
      titles.push(title);
    }
    place = answer.next;
  }
  throw new HumanError(
    say(
      '{0} has no milestone "{1}". It has: {2}',
      ...[repository, milestone, titles.slice(0, 8).join(', ') || '–'],
    ),
  );
}

/** Whether the issues are open that others wait for, and that do not have the label themselves. */
async function fetchOthers(
  api: GithubApi,
  { repository }: GithubSource,
  issues: readonly GithubIssue[],
  known: GithubNotes['others'],
): Promise<GithubNotes['others']> {
  const listed = new Set(issues.map(({ number }) => number));
  const wanted = new Set(
    issues
      .filter(({ state }) => state !== 'closed')
      .flatMap(({ body, number }) => blockersOf(body ?? '', repository, number))
      .filter(number => !listed.has(number)),
  );
  const others: GithubNotes['others'] = {};
  for (const number of [...wanted].slice(0, MAX_OTHERS)) {
    const before = known[number];
    try {
      const answer = await api.get(`/repos/${repository}/issues/${number}`, before?.etag);
      const parsed = z.object({ state: z.string() }).safeParse(answer.data);
      others[number] =
        answer.isSame && before !== undefined
          ? before
          : {
              etag: answer.etag,
              isOpen: !parsed.success || parsed.data.state !== 'closed',
            };
    } catch (error) {
      const isGone =
        error instanceof GithubError && ['notFound', 'gone', 'moved'].includes(error.failure);
      if (!isGone) {
        throw error;
      }
      // Nobody can ever close it.
      others[number] = { isOpen: false };
    }
  }
  return others;
}
