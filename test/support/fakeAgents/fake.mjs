/**
 * Shared code of the fakes: they read the prompt on standard input as `claude -p` does, print stream-json, and work on
 * the real files and the real git repository. Each replaces the `claude` program.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';

if (process.argv[2] === '--version') {
  // The check whether the real one is available; not a call, so nothing is noted.
  writeSync(1, '0.0.0 (Claude Code)\n');
  process.exit();
}

export const prompt = readFileSync(0, 'utf8');
export const story = /\*\*WORK\*\* on story (\S+)/.exec(prompt)?.[1];
export const storyFile = /\(start with (\S+)\)/.exec(prompt)?.[1];
/** The folder in which a test reads what the fakes did; outside the workspace. */
const notes = process.env.FAKE_AGENT_NOTES ?? '';

/** Writes one line of JSON for the test; the first one says that this process runs. */
export function note(facts) {
  appendFileSync(path.join(notes, 'agents.jsonl'), `${JSON.stringify(facts)}\n`);
}

export function noteExists(name) {
  return existsSync(path.join(notes, name));
}

/**
 * Resolves when the test has created a file with one of these names. It polls: `watchFile` takes a file that is created
 * before its first look for one that was always there, and stays silent.
 */
export async function waitForNote(...names) {
  while (!names.some(noteExists)) {
    await new Promise(resolve => setTimeout(resolve, 25));
  }
}

/** Writes to standard output synchronously, so that no output is lost when the process is killed. */
export function print(data) {
  const bytes = Buffer.from(data);
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(1, bytes, written);
  }
}

export function say(event) {
  print(`${JSON.stringify(event)}\n`);
}

export function init() {
  const args = process.argv.slice(2);
  const at = args.indexOf('--allowedTools');
  note({
    pid: process.pid,
    story,
    fake: path.basename(process.argv[1] ?? ''),
    args,
    allowed: at < 0 ? undefined : args[at + 1],
  });
  say({
    type: 'system',
    subtype: 'init',
    session_id: `fake-${process.pid}`,
    model: args[args.indexOf('--model') + 1 || args.length] ?? 'fake-model',
    claude_code_version: '0.0.0',
    apiKeySource: 'none',
    cwd: process.cwd(),
  });
}

export function text(words, extra = {}) {
  say({ type: 'assistant', message: { content: [{ type: 'text', text: words }] }, ...extra });
}

export function tool(name, input) {
  say({
    type: 'assistant',
    message: { content: [{ type: 'tool_use', id: `tool-${name}`, name, input }] },
  });
}

export function result(words, extra = {}) {
  say({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: words,
    num_turns: 2,
    total_cost_usd: 0.25,
    duration_ms: 10,
    usage: { input_tokens: 10, output_tokens: 5 },
    ...extra,
  });
}

export function readStories() {
  return JSON.parse(readFileSync(storyFile, 'utf8'));
}

export function writeStories(stories) {
  writeFileSync(storyFile, `${JSON.stringify(stories, null, 2)}\n`);
}

/** Marks the story done in the story file. @returns whether all are done now */
export function tick() {
  const stories = readStories();
  stories.userStories.find(({ id }) => id === story).passes = true;
  writeStories(stories);
  return stories.userStories.every(({ passes }) => passes);
}

export function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

export function commit(subject) {
  git('add', '-A');
  git('commit', '--quiet', '--allow-empty', '-m', subject);
}

/** Does the story like a correct agent: work, tick, commit, report. In free-form mode, a file and a commit. */
export function workOnStory() {
  const phrase = /end your answer with <promise>([^<]*)<\/promise>/.exec(prompt)?.[1];
  const name = story ?? 'task';
  text(`Working on ${name}.`);
  tool('Write', { file_path: path.join(process.cwd(), `${name}.txt`) });
  appendFileSync(`${name}.txt`, `work of process ${process.pid}\n`);
  const complete = story === undefined || tick();
  commit(`feat: ${name}`);
  note({ did: name });
  result(complete ? `All done.\n\n<promise>${phrase}</promise>` : `${name} is done.`);
}

/** Keeps running until it is killed. */
export function stay() {
  setInterval(() => undefined, 60_000);
}
