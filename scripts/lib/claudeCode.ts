import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensure, type Say } from './cache.ts';

/** The version whose behaviour the contract tests describe; raise it together with them. */
export const claudeCodeVersion = '2.1.330';

/**
 * Installs the pinned Claude Code into the project's cache, once, and returns its executable. It is no
 * dependency in package.json, since only the contract tests and people without an own one need it.
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

/** The version of the Agent SDK that the contract tests use: it belongs to the one of Claude Code. */
const agentSdkVersion = '0.3.330';

/**
 * Installs the pinned Claude Agent SDK into the project's cache, once, and returns its package folder. Without
 * the program that comes with it (its optional packages): the tests use the one of {@link ensureClaudeCode}.
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
  // npm asks for consent to install scripts, and this one puts the platform's binary into place.
  const manifest = {
    dependencies: { '@anthropic-ai/claude-code': claudeCodeVersion },
    allowScripts: { '@anthropic-ai/claude-code': true },
  };
  // Whatever a person's own npm settings say, the binary is an optional package put in place by a script.
  const wanted = ['--include=optional', '--ignore-scripts=false'];
  return npmInstall(folder, manifest, wanted, 'Claude Code');
}

async function npmInstall(
  folder: string,
  manifest: Readonly<Record<string, unknown>>,
  options: readonly string[],
  title: string,
): Promise<void> {
  // A package.json of its own keeps npm from walking up and installing into the project.
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ private: true, ...manifest }),
  );
  const [program, ...before] = npmCommand();
  const wanted = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error', ...options];
  const child = spawn(program, [...before, 'install', ...wanted], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    // npm would leave its compiled form in the folder for temporary files, where tests must leave nothing.
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

/** Below an npm script the same npm is used; its path is no shim, so it needs no shell on Windows. */
function npmCommand(): [string, ...string[]] {
  const script = process.env['npm_execpath'];
  if (script?.endsWith('npm-cli.js')) return [process.execPath, script];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}
