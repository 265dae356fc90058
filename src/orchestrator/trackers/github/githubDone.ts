import * as z from 'zod';
import { isInsider } from '../../stories/formats/issueCopy.ts';
import type { DoneStory } from '../tracker.ts';
import type { GithubApi } from './githubApi.ts';

const MAX_PAGES = 30;
const MAX_COMMITS = 30;

const commentSchema = z.object({
  body: z.string().nullish(),
  author_association: z.string().catch('NONE'),
  user: z.object({ type: z.string().catch('User') }).nullish(),
});

/** Identifies one completion of a story: its last commit. */
export function doneKey({ commits }: Pick<DoneStory, 'commits'>): string {
  return commits.at(-1) ?? 'ticked';
}

function markerOf(key: string): string {
  return `<!-- ralph-fresh:done ${key} -->`;
}

/** Which of these commits no remote branch has. */
export type FindUnpushed = (hashes: readonly string[]) => Promise<ReadonlySet<string>>;

/** What a comment says besides the commits. */
export interface DoneFacts {
  readonly branch?: string | undefined;
  /** Commits that GitHub cannot show. */
  readonly unpushed: ReadonlySet<string>;
}

/** The comment, with a hidden marker by which it is found again. */
function doneComment(
  { commits }: Pick<DoneStory, 'commits'>,
  { branch, unpushed }: DoneFacts,
): string {
  const shown = commits.slice(-MAX_COMMITS);
  const more = commits.length - shown.length;
  // A branch may have any name; a backtick would end the code.
  const where =
    branch === undefined || /[`\r\n]/.test(branch) ? '' : ` on the branch \`${branch}\``;
  const text =
    shown.length === 0
      ? 'Marked as done with Ralph Fresh.'
      : [
          `Done with Ralph Fresh${where}:`,
          '',
          // As code, GitHub makes no link of it, which would lead nowhere.
          ...shown.map(hash =>
            unpushed.has(hash) ? `- \`${hash}\` (not pushed yet)` : `- ${hash}`,
          ),
          ...(more > 0 ? [`- and ${more} earlier ones`] : []),
        ].join('\n');
  return `${text}\n\n${markerOf(doneKey({ commits }))}`;
}

/**
 * Comments on an issue, unless our comment for this completion is there already: a process may have been killed between
 * the comment and its record.
 * @param repository `owner/name`
 * @throws {GithubError}
 */
export async function commentOnce(
  api: GithubApi,
  repository: string,
  number: number,
  {
    branch,
    findUnpushed,
    story,
  }: {
    readonly story: DoneStory;
    readonly branch: string | undefined;
    readonly findUnpushed: FindUnpushed;
  },
): Promise<void> {
  const base = `/repos/${repository}/issues/${number}/comments`;
  const marker = story.commits.length === 0 ? '<!-- ralph-fresh:done ' : markerOf(doneKey(story));
  let place: string | undefined = `${base}?per_page=100`;
  for (let count = 0; place !== undefined && count < MAX_PAGES; count++) {
    const answer = await api.get(place);
    const comments = z.array(commentSchema).safeParse(answer.data);
    // Anybody could write the marker, to keep us from commenting.
    const isThere = (comments.success ? comments.data : []).some(
      ({ author_association: association, body, user }) =>
        (isInsider(association) || user?.type === 'Bot') && body?.includes(marker) === true,
    );
    if (isThere) {
      return;
    }
    place = answer.next;
  }
  const unpushed = await findUnpushed(story.commits.slice(-MAX_COMMITS));
  await api.send('POST', base, {}, { body: doneComment(story, { branch, unpushed }) });
}

/** @throws {GithubError} */
export async function closeIssue(
  api: GithubApi,
  repository: string,
  number: number,
): Promise<void> {
  await api.send(
    'PATCH',
    `/repos/${repository}/issues/${number}`,
    {},
    {
      state: 'closed',
      state_reason: 'completed',
    },
  );
}
