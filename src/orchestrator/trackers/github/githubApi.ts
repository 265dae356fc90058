import type { Octokit } from '@octokit/core';
import * as z from 'zod';
import { HumanError } from '../../../base/humanError.ts';
import { type Message, say } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { urlOfApi } from './githubSource.ts';

/** In ms, for one request. */
const TIME_LIMIT_MS = 20_000;
/** The documented wait after a secondary limit that does not say how long it lasts, in ms. */
const UNKNOWN_LIMIT_MS = 60_000;
const MAX_LIMIT_MS = 24 * 3_600_000;

/** Why a request has no result. */
export type GithubFailure =
  /** Nothing may be asked before `until`. */
  | 'limit'
  /** No connection, no answer in time, or the server is in trouble: the same request may work later. */
  | 'offline'
  /** The token is not accepted, or may not do this. */
  | 'refused'
  /** Not there, or not for this token. */
  | 'notFound'
  /** Deleted. */
  | 'gone'
  /** It is now in another repository. */
  | 'moved'
  /** GitHub does not accept what it was sent. */
  | 'invalid';

/** A request that had no result. Its message never contains the token. */
export class GithubError extends HumanError {
  readonly failure: GithubFailure;
  /** Of a limit: ms since the epoch. */
  readonly until: number | undefined;

  constructor(failure: GithubFailure, message: Message, until?: number) {
    super(message);
    this.failure = failure;
    this.until = until;
  }
}

export interface GithubAnswer {
  /** Not changed since the given ETag; such an answer does not count for the limit. */
  readonly isSame: boolean;
  readonly data: unknown;
  readonly etag: string | undefined;
  /** The next page, if there is one. */
  readonly next: string | undefined;
}

const errorSchema = z.looseObject({
  status: z.number(),
  response: z
    .looseObject({
      headers: z.record(z.string(), z.union([z.string(), z.number()]).optional()).optional(),
      data: z.unknown().optional(),
    })
    .optional(),
});

/** The REST API of one GitHub, one request at a time. It never tries a request again by itself. */
export class GithubApi {
  private readonly octokit: Octokit;
  private readonly baseUrl: string;
  /** Where the token comes from, for messages. */
  private readonly tokenFrom: string;
  private readonly now: () => number;
  /** Ends requests early. */
  signal: AbortSignal | undefined;

  private constructor(octokit: Octokit, baseUrl: string, tokenFrom: string, now: () => number) {
    this.octokit = octokit;
    this.baseUrl = baseUrl;
    this.tokenFrom = tokenFrom;
    this.now = now;
  }

  static async open({
    baseUrl,
    now = Date.now,
    token,
    tokenFrom,
    version,
  }: {
    readonly baseUrl: string;
    readonly token: string;
    readonly tokenFrom: string;
    readonly version: string;
    readonly now?: () => number;
  }): Promise<GithubApi> {
    const { newOctokit } = await import('./octokit.ts');
    const quiet = () => undefined;
    const octokit = newOctokit({
      auth: token,
      baseUrl: baseUrl.replace(/\/$/, ''),
      userAgent: `ralph-fresh/${version}`,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    });
    return new GithubApi(octokit, baseUrl, tokenFrom, now);
  }

  /**
   * @param place below the API, or the whole URL of a further page
   * @throws {GithubError}
   */
  get(place: string, etag?: string): Promise<GithubAnswer> {
    return this.send('GET', place, etag === undefined ? {} : { 'if-none-match': etag });
  }

  /** @throws {GithubError} */
  send(
    method: 'GET' | 'POST' | 'PATCH',
    place: string,
    headers: Readonly<Record<string, string>> = {},
    body?: Readonly<Record<string, unknown>>,
  ): Promise<GithubAnswer> {
    return this.request(method, place, headers, body);
  }

  private async request(
    method: string,
    place: string,
    headers: Readonly<Record<string, string>>,
    body: Readonly<Record<string, unknown>> | undefined,
  ): Promise<GithubAnswer> {
    const url = urlOfApi(place, this.baseUrl);
    if (url === undefined) {
      throw new GithubError(
        'invalid',
        say('{0} is no address of the API at {1}, so it is not asked.', place, this.baseUrl),
      );
    }
    try {
      const response = await this.octokit.request({
        ...{ method, url, ...body },
        headers: {
          accept: 'application/vnd.github+json',
          'x-github-api-version': '2022-11-28',
          ...headers,
        },
        // A redirection must take neither the token nor a comment elsewhere.
        request: {
          redirect: 'manual',
          signal: AbortSignal.any([AbortSignal.timeout(TIME_LIMIT_MS), this.signal ?? []].flat()),
        },
      });
      if (response.status >= 300) {
        throw new GithubError('moved', this.movedWords(place));
      }
      return {
        isSame: false,
        data: response.data,
        etag: response.headers.etag,
        next: this.nextPage(response.headers.link),
      };
    } catch (error) {
      if (error instanceof GithubError) {
        throw error;
      }
      const parsed = errorSchema.safeParse(error);
      const { response, status } = parsed.success ? parsed.data : { status: 500 };
      if (status === 304) {
        const link = response?.headers?.['link'];
        return {
          ...{ isSame: true, data: undefined, etag: undefined },
          next: this.nextPage(link === undefined ? undefined : `${link}`),
        };
      }
      throw this.failureOf(place, status, response);
    }
  }

  private nextPage(link: string | undefined): string | undefined {
    const next = /<([^<>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
    return next !== undefined && urlOfApi(next, this.baseUrl) !== undefined ? next : undefined;
  }

  private movedWords(place: string): Message {
    return say('{0} is somewhere else now: GitHub says that it was moved.', nameOf(place));
  }

  private failureOf(
    place: string,
    status: number,
    response: z.infer<typeof errorSchema>['response'],
  ): GithubError {
    if (response === undefined) {
      return new GithubError(
        'offline',
        say('GitHub ({0}) cannot be reached.', new URL(this.baseUrl).host),
      );
    }
    const { data, headers = {} } = response;
    const said = saidBy(data);
    const until = limitOf(status, headers, said, this.now());
    if (until !== undefined) {
      const time = new Date(until).toISOString().slice(11, 16);
      return new GithubError(
        'limit',
        say('GitHub’s limit of requests is reached. It can be asked again at {0} UTC.', time),
        until,
      );
    }
    switch (status) {
      case 301:
      case 302:
      case 307:
      case 308:
        return new GithubError('moved', this.movedWords(place));
      case 401:
        return new GithubError(
          'refused',
          say(
            'GitHub does not accept the token of {0}. It may have expired: make a new one, or log in again.',
            this.tokenFrom,
          ),
        );
      case 403:
        return new GithubError(
          'refused',
          say(
            'GitHub does not let the token of {0} do this ({1}): {2} It needs the right to read issues, and to write them for comments.',
            ...[this.tokenFrom, nameOf(place), said],
          ),
        );
      case 404:
        return new GithubError(
          'notFound',
          say(
            'GitHub has no {0} that the token of {1} may see. Check the name, and the rights of the token.',
            nameOf(place),
            this.tokenFrom,
          ),
        );
      case 410:
        return new GithubError('gone', say('{0} was deleted on GitHub.', nameOf(place)));
      default:
        return status >= 500
          ? new GithubError(
              'offline',
              say('GitHub is in trouble at the moment (status {0}).', status),
            )
          : new GithubError(
              'invalid',
              say('GitHub did not accept the request ({0}, {1}): {2}', status, nameOf(place), said),
            );
    }
  }
}

/** When GitHub may be asked again, if this answer is about a limit; as its documentation says. */
function limitOf(
  status: number,
  headers: Readonly<Record<string, string | number | undefined>>,
  said: string,
  now: number,
): number | undefined {
  if (status !== 403 && status !== 429) {
    return undefined;
  }
  const seconds = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(seconds)) {
    return now + Math.min(Math.max(1, seconds) * 1_000, MAX_LIMIT_MS);
  }
  const reset = Number(headers['x-ratelimit-reset']);
  if (`${headers['x-ratelimit-remaining']}` === '0' && Number.isFinite(reset)) {
    return Math.min(Math.max(reset * 1_000, now + 1_000), now + MAX_LIMIT_MS);
  }
  return status === 429 || /rate limit/i.test(said) ? now + UNKNOWN_LIMIT_MS : undefined;
}

function saidBy(data: unknown): string {
  const parsed = z.looseObject({ message: z.string() }).safeParse(data);
  return parsed.success ? shorten(parsed.data.message, 200) : '';
}

/** `repos/owner/name/issues/12` of a URL, without its query. */
function nameOf(place: string): string {
  const path = place.replace(/^https?:\/\/[^/]+/, '').replace(/\?.*$/s, '');
  return shorten(path.replace(/^.*?\/repos\//, '').replace(/^\//, ''), 200);
}
