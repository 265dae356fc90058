// A fake of `@anthropic-ai/claude-agent-sdk`: its query() does the story of its prompt, as the SDK's own agent would.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

export async function* query({ prompt, options }) {
  const [, story] = /\*\*WORK\*\* on story (\S+)/.exec(prompt);
  yield {
    type: 'system',
    subtype: 'init',
    session_id: 'sdk',
    model: 'sdk-model',
    cwd: options.cwd,
  };
  const file = '.omc/prd.json';
  const stories = JSON.parse(readFileSync(file, 'utf8'));
  stories.userStories.find(({ id }) => id === story).passes = true;
  writeFileSync(file, JSON.stringify(stories, null, 2));
  execFileSync('git', ['add', '-A']);
  execFileSync('git', ['commit', '--quiet', '-m', `feat: ${story} by the SDK`]);
  yield {
    ...{ type: 'result', subtype: 'success', is_error: false, result: `${story} is done.` },
    ...{ num_turns: 1, total_cost_usd: 0.5, usage: { input_tokens: 1, output_tokens: 1 } },
  };
}
