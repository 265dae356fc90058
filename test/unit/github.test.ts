import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { GithubApi, GithubError } from '../../src/orchestrator/trackers/github/githubApi.ts';
import { readGrant, writeGrant } from '../../src/orchestrator/trackers/github/githubGrants.ts';
import { GITHUB_API, urlOfApi } from '../../src/orchestrator/trackers/github/githubSource.ts';
import { findGithubToken } from '../../src/orchestrator/trackers/github/githubToken.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { FakeGithub } from '../support/fakeGithub.ts';

const OWN = 'https://github.example.com/api/v3';

describe('the API of GitHub', () => {
  test('a place is only asked if it is below the address of the API', () => {
    const place = '/repos/o/r/issues?labels=a%3Ab';
    assert.equal(urlOfApi(place, GITHUB_API), `https://api.github.com${place}`);
    assert.equal(urlOfApi(place, `${OWN}/`), `${OWN}${place}`);
    assert.equal(urlOfApi(`${OWN}${place}`, OWN), `${OWN}${place}`);
    assert.equal(urlOfApi('/r?labels=area:ui', OWN), `${OWN}/r?labels=area%3Aui`);
    for (const elsewhere of [
      'https://evil.test/api/v3/repos',
      'https://github.example.com/repos',
      'https://github.example.com:8443/api/v3/repos',
      'https://github.example.com/api/v3/../../x',
      'http://github.example.com/api/v3/repos',
      'https://github.example.com@evil.test/api/v3/repos',
      '/../../x',
      '@evil.test/x',
      '.evil.test/x',
      'httpx',
    ]) {
      assert.equal(urlOfApi(elsewhere, OWN), undefined, elsewhere);
    }
  });

  test('the token goes to no other server', async t => {
    const [github, other] = [await FakeGithub.start(), await FakeGithub.start()];
    t.after(() => Promise.all([github[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]));
    const api = await GithubApi.open({
      ...{ baseUrl: github.url, token: github.token, tokenFrom: 'a test', version: '1.0.0' },
    });
    assert.deepEqual((await api.get('/repos/octo/garden/issues')).data, []);
    await assert.rejects(api.get(`${other.url}/repos/octo/garden/issues`), GithubError);
    assert.deepEqual(other.requests, []);
  });
});

describe('the token for an API', () => {
  const from = async (env: Record<string, string>, baseUrl: string) =>
    (await findGithubToken({ PATH: '', HOME: '/nowhere', ...env }, baseUrl)).from;

  test('is one of that server', async () => {
    const both = { GITHUB_TOKEN: 'a', GH_TOKEN: 'b', GH_ENTERPRISE_TOKEN: 'c' };
    assert.equal(await from(both, GITHUB_API), 'GITHUB_TOKEN');
    assert.equal(await from(both, OWN), 'GH_ENTERPRISE_TOKEN');
    const window = { ...both, RALPH_FRESH_GITHUB_TOKEN: 'd' };
    assert.equal(await from(window, GITHUB_API), 'VS Code');
    assert.equal(await from(window, OWN), 'GH_ENTERPRISE_TOKEN');
    assert.equal(await from({ ...window, RALPH_FRESH_GITHUB_API: OWN }, OWN), 'VS Code');
    assert.equal(
      await from({ ...window, RALPH_FRESH_GITHUB_API: OWN }, GITHUB_API),
      'GITHUB_TOKEN',
    );
  });

  test('is requested by the variable that counts for that server', async () => {
    await assert.rejects(from({ GITHUB_ENTERPRISE_TOKEN: 'a' }, GITHUB_API), / set GITHUB_TOKEN /);
    await assert.rejects(
      from({ GITHUB_TOKEN: 'a', RALPH_FRESH_GITHUB_TOKEN: 'b' }, OWN),
      /github\.example\.com.*--hostname github\.example\.com.* set GITHUB_ENTERPRISE_TOKEN /,
    );
  });
});

describe('the folders that may contact GitHub', () => {
  test('an invalid entry and unknown keys stay as they are', async t => {
    const home = await tempDir('ralph-fresh-grants-');
    t.after(() => home.remove());
    const env = { XDG_CONFIG_HOME: home.path, HOME: home.path, APPDATA: home.path };
    const file = path.join(home.path, 'ralph-fresh', 'github.json');
    const good = { source: { repository: 'o/r', labels: [] }, baseUrl: GITHUB_API };
    const odd = { source: { repository: 'no repository', labels: [] }, baseUrl: GITHUB_API };
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify({ folders: { '/odd': odd, '/good': good }, note: 1 }));
    assert.deepEqual(await readGrant(env, '/good'), good);
    assert.equal(await readGrant(env, '/odd'), undefined);
    await writeGrant(env, '/new', good);
    assert.deepEqual(JSON.parse(await readFile(file, 'utf8')), {
      folders: { '/odd': odd, '/good': good, '/new': good },
      note: 1,
    });
    await writeFile(file, '{ "folders": {');
    await assert.rejects(writeGrant(env, '/new', good), /github\.json cannot be read/);
    assert.equal(await readFile(file, 'utf8'), '{ "folders": {');
  });
});
