import * as z from 'zod';
import { say } from '../../../base/say.ts';
import { UsageError } from '../../../base/usageError.ts';

/** Which issues of which repository are stories. */
export interface GithubSource {
  /** `owner/name`. */
  readonly repository: string;
  /** An issue must have all of them. */
  readonly labels: readonly string[];
  /** Its title, or its number. */
  readonly milestone?: string;
}

const REPOSITORY = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;

export const githubSourceSchema = z.object({
  repository: z.string().regex(REPOSITORY),
  labels: z.array(z.string().min(1).max(200)).max(20),
  milestone: z.string().min(1).max(300).optional(),
});

/** @throws {UsageError} if it is not `owner/name` */
export function repositoryOf(text: string): string {
  const name = text
    .trim()
    .replace(/^https?:\/\/[^/]+\//, '')
    .replace(/(?:\.git)?\/?$/, '');
  if (!REPOSITORY.test(name)) {
    throw new UsageError(
      say('"{0}" is not a repository of GitHub. Name it as owner/name.', text.slice(0, 100)),
    );
  }
  return name;
}

/** The same repository and choice of issues; names of repositories ignore case. */
export function isSameSource(one: GithubSource, other: GithubSource): boolean {
  const key = ({ labels, milestone, repository }: GithubSource) =>
    JSON.stringify([repository.toLowerCase(), [...labels].sort(), milestone ?? null]);
  return key(one) === key(other);
}

/** The API of github.com. */
export const GITHUB_API = 'https://api.github.com';

/**
 * The whole URL of a place of an API: a token only goes to the API that it is for.
 * @param place below the API, or the whole URL of a further page
 * @returns `undefined` if it is somewhere else
 */
export function urlOfApi(place: string, baseUrl: string): string | undefined {
  const base = new URL(`${baseUrl.replace(/\/+$/, '')}/`);
  const whole = place.startsWith('/') ? `${base.href.slice(0, -1)}${place}` : place;
  if (!URL.canParse(whole)) {
    return undefined;
  }
  const { origin, pathname, search } = new URL(whole);
  if (origin !== base.origin || !pathname.startsWith(base.pathname)) {
    return undefined;
  }
  // For the library, `:name` and `{name}` are places to fill in.
  const plain = `${pathname}${search}`
    .replaceAll(':', '%3A')
    .replaceAll('{', '%7B')
    .replaceAll('}', '%7D');
  return `${origin}${plain}`;
}
