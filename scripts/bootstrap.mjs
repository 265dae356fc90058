// The first step of every npm script that must work on a fresh clone. Runs on the installed Node (20 or later),
// installs the dependencies if they are missing or outdated, and then runs the script with the Node of the
// devDependency `node`, which is the one that VS Code's extension host ships.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';

const root = path.resolve(
  import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname),
  '..',
);
/** The scripts are TypeScript, which older versions cannot run. */
const OWN_NODE = 24;
const [script, ...args] = process.argv.slice(2);
if (script === undefined) {
  console.error('usage: node scripts/bootstrap.mjs SCRIPT.ts [ARGUMENT…]');
  process.exit(64);
}
const major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(
    `Ralph Fresh needs Node 20 or later, this is ${process.version}. Install a newer Node.`,
  );
  process.exit(1);
}

const wanted = createHash('sha256')
  .update(readFileSync(path.join(root, 'package-lock.json')))
  .digest('hex');
const stamp = path.join(root, 'node_modules', '.ralph-fresh-lock');
if (!installedHere() && !installedByNpm()) {
  console.log('[set-up] Installing dependencies (npm ci; about half a minute) …');
  const npm = process.env['npm_execpath'];
  const command = npm
    ? [process.execPath, npm]
    : [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
  const result = spawnSync(
    command[0],
    [...command.slice(1), 'ci', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: npm === undefined && process.platform === 'win32',
    },
  );
  if (result.status !== 0) {
    console.error(
      '[set-up] npm ci failed; its message is above. Fix that and run the same command again.',
    );
    process.exit(result.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}

function installedHere() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

/** Whether somebody ran npm directly: npm's own record of the installation is not older than the lock file. */
function installedByNpm() {
  const record = path.join(root, 'node_modules', '.package-lock.json');
  return (
    existsSync(record) &&
    statSync(record).mtimeMs >= statSync(path.join(root, 'package-lock.json')).mtimeMs
  );
}

const bundled = path.join(
  root,
  'node_modules',
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
);
if (!existsSync(bundled) && major < OWN_NODE) {
  // The user has chosen to install without these scripts, so they are not run here.
  console.error(
    `[set-up] node_modules has no Node ${OWN_NODE}: the dependencies were installed without their install scripts. Run "npm rebuild node esbuild --ignore-scripts=false", or start this with Node ${OWN_NODE} (this is ${process.version}); then run the same command again.`,
  );
  process.exit(1);
}
const node = existsSync(bundled) ? bundled : process.execPath;
const child = spawn(
  node,
  ['--disable-warning=ExperimentalWarning', path.resolve(root, script), ...args],
  {
    cwd: root,
    stdio: 'inherit',
    // Its own process group: a terminal sends Ctrl-C to a whole group, and the child should get it only once.
    detached: process.platform !== 'win32',
    env: {
      ...process.env,
      PATH: [path.dirname(node), path.join(root, 'node_modules', '.bin'), process.env['PATH']].join(
        path.delimiter,
      ),
    },
  },
);
// The child cleans up after itself, so this process forwards signals and waits.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (child.exitCode === null) child.kill(signal);
  });
}
child.on('exit', (code, signal) => {
  process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0));
});
