import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An issue as a test gives it; the rest is as GitHub fills it in. */
export interface FakeIssue {
  readonly number: number;
  title: string;
  body?: string;
  state?: 'open' | 'closed';
  labels?: readonly string[];
  milestone?: string;
  association?: string;
  login?: string;
  isPullRequest?: boolean;
}

export interface FakeComment {
  readonly body: string;
  readonly association: string;
}

export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly status: number;
  readonly token: string | undefined;
}

/** An answer that replaces the usual one of the next request that fits. */
interface Trouble {
  readonly fits: (method: string, path: string) => boolean;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
  /** The request is carried out all the same, and only the answer is lost. */
  readonly isCarriedOut?: boolean;
  left: number;
}

/**
 * A fake of GitHub's REST API on this machine. It is not GitHub: it behaves as the documentation (version 2022-11-28)
 * says for what Ralph uses. Pages with `Link`, ETags and 304, limits with their headers, pull requests among the issues,
 * deleted (410) and moved (301) issues, milestones, comments, 401, 403, 404 and 422.
 */
export class FakeGithub implements AsyncDisposable {
  readonly repository: string;
  readonly token = 'ghp_theTokenOfTheTest0123456789';
  readonly issues = new Map<number, FakeIssue>();
  readonly comments = new Map<number, FakeComment[]>();
  readonly deleted = new Set<number>();
  /** Numbers, and where they are now. */
  readonly moved = new Map<number, string>();
  readonly requests: SeenRequest[] = [];
  /** Called before a request is answered. */
  onRequest: ((method: string, path: string) => void) | undefined;
  /** Issues on one page. GitHub allows 100. */
  pageSize = 100;
  private readonly troubles: Trouble[] = [];
  private readonly server = createServer((request, response) => {
    void this.answer(request, response);
  });

  private constructor(repository: string) {
    this.repository = repository;
  }

  static async start(repository = 'octo/garden', issues: readonly FakeIssue[] = []) {
    const fake = new FakeGithub(repository);
    for (const issue of issues) {
      fake.issues.set(issue.number, issue);
    }
    await new Promise<void>(resolve => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
  }

  issue(number: number): FakeIssue {
    const found = this.issues.get(number);
    if (found === undefined) {
      throw new Error(`The test has no issue ${number}`);
    }
    return found;
  }

  /** The next requests that fit get this answer instead. */
  trouble(
    fits: (method: string, path: string) => boolean,
    answer: Omit<Trouble, 'fits' | 'left'>,
    times = 1,
  ): void {
    this.troubles.push({ fits, ...answer, left: times });
  }

  count(method: string, part: string): number {
    return this.requests.filter(seen => seen.method === method && seen.path.includes(part)).length;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const method = request.method ?? '';
    const url = new URL(request.url ?? '/', this.url);
    const token = /^(?:token|bearer) (.*)$/i.exec(request.headers.authorization ?? '')?.[1];
    const path = url.pathname + url.search;
    const send = (status: number, data: unknown, headers: Record<string, string> = {}) => {
      this.requests.push({ method, path, status, token });
      response.writeHead(status, {
        'content-type': 'application/json; charset=utf-8',
        'x-ratelimit-limit': '5000',
        'x-ratelimit-remaining': '4900',
        'x-ratelimit-reset': `${Math.floor(Date.now() / 1_000) + 3_000}`,
        ...headers,
      });
      response.end(status === 304 ? undefined : JSON.stringify(data));
    };
    this.onRequest?.(method, path);
    const trouble = this.troubles.find(one => one.left > 0 && one.fits(method, path));
    if (trouble !== undefined) {
      trouble.left -= 1;
      if (trouble.isCarriedOut) {
        this.route(method, url, Buffer.concat(chunks).toString('utf8'));
      }
      send(trouble.status, { message: trouble.message ?? 'Trouble' }, { ...trouble.headers });
      return;
    }
    if (token !== this.token) {
      send(401, { message: 'Bad credentials' });
      return;
    }
    const {
      data,
      headers = {},
      status,
    } = this.route(method, url, Buffer.concat(chunks).toString('utf8'));
    if (status !== 200 || method !== 'GET') {
      send(status, data, headers);
      return;
    }
    const etag = `W/"${createHash('sha256').update(JSON.stringify(data)).digest('hex')}"`;
    const isSame = request.headers['if-none-match'] === etag;
    send(isSame ? 304 : 200, data, { ...headers, etag });
  }

  private route(
    method: string,
    url: URL,
    body: string,
  ): {
    readonly status: number;
    readonly data: unknown;
    readonly headers?: Record<string, string>;
  } {
    const base = `/repos/${this.repository}`;
    if (url.pathname.toLowerCase() === `${base}/milestones`) {
      const titles = [...new Set([...this.issues.values()].flatMap(one => one.milestone ?? []))];
      return { status: 200, data: titles.map((title, n) => ({ number: n + 1, title })) };
    }
    if (url.pathname.toLowerCase() === `${base}/issues` && method === 'GET') {
      return this.page(
        url,
        this.listed(url).map(issue => this.shown(issue)),
      );
    }
    const [, name = '', rest = ''] =
      new RegExp(`^${base}/issues/(\\d+)(/comments)?$`, 'i').exec(url.pathname) ?? [];
    const number = Number(name);
    const to = this.moved.get(number);
    if (name !== '' && to !== undefined) {
      return {
        status: 301,
        data: { message: 'Moved Permanently', url: to },
        headers: { location: to },
      };
    }
    if (name !== '' && this.deleted.has(number)) {
      return { status: 410, data: { message: 'This issue was deleted' } };
    }
    const issue = this.issues.get(number);
    if (issue === undefined) {
      return { status: 404, data: { message: 'Not Found' } };
    }
    if (rest === '' && method === 'GET') {
      return { status: 200, data: this.shown(issue) };
    }
    if (rest === '' && method === 'PATCH') {
      issue.state = JSON.parse(body).state;
      return { status: 200, data: this.shown(issue) };
    }
    const comments = this.comments.get(number) ?? [];
    if (method === 'POST') {
      const text: unknown = JSON.parse(body).body;
      if (typeof text !== 'string' || text === '') {
        return { status: 422, data: { message: 'Validation Failed' } };
      }
      this.comments.set(number, [...comments, { body: text, association: 'OWNER' }]);
      return { status: 201, data: { id: comments.length + 1, body: text } };
    }
    return this.page(
      url,
      comments.map(({ association, body: text }, id) => ({
        ...{ id, body: text, author_association: association, user: { login: 'x', type: 'User' } },
      })),
    );
  }

  private listed(url: URL): FakeIssue[] {
    const labels = (url.searchParams.get('labels') ?? '').split(',').filter(label => label !== '');
    const state = url.searchParams.get('state') ?? 'open';
    const milestone = Number(url.searchParams.get('milestone'));
    const titles = [...new Set([...this.issues.values()].flatMap(one => one.milestone ?? []))];
    const found = [...this.issues.values()]
      .filter(issue => !this.deleted.has(issue.number) && !this.moved.has(issue.number))
      .filter(issue => labels.every(label => issue.labels?.includes(label)))
      .filter(issue => state === 'all' || (issue.state ?? 'open') === state)
      .filter(issue => !milestone || issue.milestone === titles[milestone - 1])
      .sort((a, b) => a.number - b.number);
    return url.searchParams.get('direction') === 'asc' ? found : found.reverse();
  }

  private page(url: URL, all: readonly unknown[]) {
    const page = Number(url.searchParams.get('page') ?? 1);
    const size = Math.min(this.pageSize, Number(url.searchParams.get('per_page') ?? 30));
    const data = all.slice((page - 1) * size, page * size);
    const at = (n: number) => {
      const to = new URL(url);
      to.searchParams.set('page', `${n}`);
      return `${this.url}${to.pathname}${to.search}`;
    };
    const last = Math.max(1, Math.ceil(all.length / size));
    const link = page < last ? `<${at(page + 1)}>; rel="next", <${at(last)}>; rel="last"` : '';
    const headers: Record<string, string> = link === '' ? {} : { link };
    return { status: 200, data, headers };
  }

  private shown(issue: FakeIssue): object {
    const { isPullRequest, labels = [], login = 'octocat', milestone, number } = issue;
    return {
      ...{ id: 9_000 + number, number, title: issue.title, body: issue.body ?? null },
      ...{
        state: issue.state ?? 'open',
        html_url: `https://github.test/${this.repository}/issues/${number}`,
      },
      labels: labels.map((name, id) => ({ id, name, color: 'ededed' })),
      milestone: milestone === undefined ? null : { number: 1, title: milestone },
      user: { login, type: 'User' },
      author_association: issue.association ?? 'MEMBER',
      ...(isPullRequest && { pull_request: { url: 'https://github.test/pull' } }),
    };
  }
}
