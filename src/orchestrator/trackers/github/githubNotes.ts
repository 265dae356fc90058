import path from 'node:path';
import * as z from 'zod';
import { readPlainFile, writePlainFile } from '../../../base/plainFile.ts';
import type { RunFiles } from '../../workspace/runFiles.ts';
import { issueSchema } from './githubIssue.ts';
import { type GithubSource, githubSourceSchema, isSameSource, urlOfApi } from './githubSource.ts';

/** What is remembered between two looks at GitHub: which is never a token. */
const notesSchema = z.object({
  source: githubSourceSchema,
  baseUrl: z.string(),
  /** Whether the text of outsiders was included. */
  outsiders: z.boolean(),
  /** Answers by address. If nothing has changed, GitHub only says so, and the answer from here counts. */
  pages: z.record(
    z.string(),
    z.object({
      etag: z.string().optional(),
      next: z.string().optional(),
      issues: z.array(issueSchema),
    }),
  ),
  /** Issues that others wait for, and that are not in the list; by number: whether they are open. */
  others: z.record(z.string(), z.object({ etag: z.string().optional(), isOpen: z.boolean() })),
  /** What was said about stories that are done, by number. */
  told: z.record(
    z.string(),
    z.object({
      /** In the hidden marker of the comment. */
      key: z.string(),
      commented: z.boolean(),
      closed: z.boolean(),
    }),
  ),
});

export type GithubNotes = z.infer<typeof notesSchema>;

const MAX_BYTES = 64 * 1024 * 1024;

function notesFile(files: RunFiles): string {
  return path.join(files.stateDir, 'github.json');
}

type Wanted = Pick<GithubNotes, 'baseUrl' | 'outsiders'> & { readonly source: GithubSource };

/** As before the first look. */
export function freshNotes({ baseUrl, outsiders, source }: Wanted): GithubNotes {
  const { labels, milestone, repository } = source;
  return {
    source: { repository, labels: [...labels], ...(milestone !== undefined && { milestone }) },
    ...{ baseUrl, outsiders, pages: {}, others: {}, told: {} },
  };
}

/** @returns new ones if there are none for this source, or they cannot be read */
export async function readNotes(files: RunFiles, wanted: Wanted): Promise<GithubNotes> {
  const { baseUrl, outsiders, source } = wanted;
  const { repository } = source;
  const fresh = freshNotes(wanted);
  const bytes = await readPlainFile(notesFile(files), MAX_BYTES).catch(() => undefined);
  const parsed = notesSchema.safeParse(parseJson(bytes?.toString('utf8')));
  if (!parsed.success || parsed.data.baseUrl !== baseUrl) {
    return fresh;
  }
  const { told } = parsed.data;
  if (parsed.data.source.repository.toLowerCase() !== repository.toLowerCase()) {
    return fresh;
  }
  // With another choice of issues or texts, the entries must be compared anew, but what was said stays said.
  return isSameSource(parsed.data.source, source) && parsed.data.outsiders === outsiders
    ? { ...parsed.data, pages: pagesOfApi(parsed.data) }
    : { ...fresh, told };
}

/** Somebody may have written the file: what leads elsewhere is asked for anew. */
function pagesOfApi({ baseUrl, pages }: GithubNotes): GithubNotes['pages'] {
  return Object.fromEntries(
    Object.entries(pages).filter(
      ([, { next }]) => next === undefined || urlOfApi(next, baseUrl) !== undefined,
    ),
  );
}

export async function writeNotes(files: RunFiles, notes: GithubNotes): Promise<void> {
  await writePlainFile(notesFile(files), JSON.stringify(notes));
}

function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
