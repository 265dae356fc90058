import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensure, type Say } from './cache.ts';

/** The version whose behavior the contract tests describe; update both together. */
export const claudeCodeVersion = '2.1.330';

/**
 * Installs the pinned Claude Code into the project's cache, once, and returns its executable. It is not a dependency in
 * package.json, since only the contract tests and people without their own installation need it.
 */
export async function ensureClaudeCode(say: Say): Promise<string> {
  const folder = await ensure(
    { folder: 'claude-code', title: 'Claude Code', size: 'about 365 MB' },
    claudeCodeVersion,
    install,
    say,
  );
  return path.join(folder, 'node_modules', '@anthropic-ai', 'claude-code', 'bin', 'claude.exe');
}

/** The version of the Agent SDK for the contract tests; it must match the one of Claude Code. */
const agentSdkVersion = '0.3.330';

/**
 * Installs the pinned Claude Agent SDK into the project's cache, once, and returns its package folder. Its optional
 * packages, which contain the program, are omitted: the tests use the one of {@link ensureClaudeCode}.
 */
export async function ensureAgentSdk(say: Say): Promise<string> {
  const folder = await ensure(
    { folder: 'claude-agent-sdk', title: 'the Claude Agent SDK', size: 'about 65 MB' },
    agentSdkVersion,
    target =>
      npmInstall(
        target,
        { dependencies: { '@anthropic-ai/claude-agent-sdk': agentSdkVersion } },
        ['--omit=optional', '--ignore-scripts'],
        'the Claude Agent SDK',
      ),
    say,
  );
  return path.join(folder, 'node_modules', '@anthropic-ai', 'claude-agent-sdk');
}

function install(folder: string): Promise<void> {
  // npm asks for consent to install scripts, and this one installs the platform's binary.
  const manifest = {
    dependencies: { '@anthropic-ai/claude-code': claudeCodeVersion },
    allowScripts: { '@anthropic-ai/claude-code': true },
  };
  // Overrides the user's npm settings: the binary is an optional package that a script installs.
  const wanted = ['--include=optional', '--ignore-scripts=false'];
  return npmInstall(folder, manifest, wanted, 'Claude Code');
}

async function npmInstall(
  folder: string,
  manifest: Readonly<Record<string, unknown>>,
  options: readonly string[],
  title: string,
): Promise<void> {
  // A separate package.json prevents npm from finding the project's and installing there.
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ private: true, ...manifest }),
  );
  const [program, ...before] = npmCommand();
  const wanted = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error', ...options];
  const child = spawn(program, [...before, 'install', ...wanted], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    // npm would write its compile cache to the temporary folder, in which tests must leave nothing.
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
    shell: program.endsWith('.cmd'),
  });
  let problem = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    problem = (problem + chunk).slice(-4000);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`npm could not install ${title}:\n${problem}`);
}

/** Inside an npm script, the same npm is used; its path is not a shim, so it needs no shell on Windows. */
function npmCommand(): [string, ...string[]] {
  const script = process.env['npm_execpath'];
  if (script?.endsWith('npm-cli.js')) return [process.execPath, script];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}
