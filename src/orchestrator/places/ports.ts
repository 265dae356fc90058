import { mkdir, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import * as z from 'zod';
import { lockAround } from '../../base/fileLock.ts';
import { HumanError } from '../../base/humanError.ts';
import { once } from '../../base/once.ts';
import { readPlainFile, writeDerivedFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { identify, isRunning } from '../process/processIdentity.ts';

/** Below the ports that systems give to connections, and above those that servers usually have. */
const FIRST_PORT = 20_000;
const END_PORT = 32_000;
const DEFAULT_COUNT = 10;
const MAX_LEASE_BYTES = 4_096;

const holderSchema = once(() =>
  z.looseObject({ pid: z.number().int().positive(), startId: z.string().optional() }),
);

/** A block of ports in a row that nobody else uses. */
export interface PortLease {
  readonly first: number;
  readonly count: number;
  /** Frees the ports for the agent, which starts now. They stay leased: no other lane gets them. */
  open(): Promise<void>;
  /** Gives the block back. */
  dispose(): Promise<void>;
}

interface Block {
  readonly first: number;
  readonly count: number;
}

/**
 * Leases free ports for a lane. Each port is bound until {@link PortLease.open}. A file in `folder` names the living
 * process that has the block, so that lanes of other runs get others; the lease of a dead process is void.
 *
 * @param folder for the leases of all runs of this user on this machine
 * @throws {HumanError} if there are not so many free ports in a row
 */
export async function leasePorts(folder: string, count = DEFAULT_COUNT): Promise<PortLease> {
  const self = await identify(process.pid);
  await mkdir(folder, { recursive: true });
  const unlock = await lockAround(folder, path.join(folder, 'leases'));
  try {
    const taken = await livingLeases(folder);
    for (let first = FIRST_PORT; first + count <= END_PORT; ) {
      const other = taken.find(at => at.first < first + count && first < at.first + at.count);
      const bound = other === undefined ? await bindAll(first, count) : other.first + other.count;
      if (typeof bound === 'number') {
        first = bound;
        continue;
      }
      const file = path.join(folder, `${first}-${count}.json`);
      await writeDerivedFile(file, `${JSON.stringify(self)}\n`);
      const open = () => closeAll(bound.splice(0));
      return {
        first,
        count,
        open,
        async dispose() {
          await open();
          await rm(file, { force: true });
        },
      };
    }
    throw new HumanError(
      say(
        'There are no {0} free ports in a row between {1} and {2}. End programs that listen there, and try again.',
        count,
        FIRST_PORT,
        END_PORT,
      ),
    );
  } finally {
    await unlock();
  }
}

/** Removes leases of dead processes. */
async function livingLeases(folder: string): Promise<Block[]> {
  const blocks: Block[] = [];
  for (const name of await readdir(folder)) {
    const [, first, count] = /^(\d+)-(\d+)\.json$/.exec(name) ?? [];
    if (first === undefined) {
      continue;
    }
    const file = path.join(folder, name);
    if (await isHeld(file)) {
      blocks.push({ first: Number(first), count: Number(count) });
    } else {
      await rm(file, { force: true });
    }
  }
  return blocks;
}

async function isHeld(file: string): Promise<boolean> {
  const bytes = await readPlainFile(file, MAX_LEASE_BYTES);
  try {
    return (
      bytes !== undefined && (await isRunning(holderSchema().parse(JSON.parse(bytes.toString()))))
    );
  } catch {
    // It is written in one step, so this is not ours.
    return false;
  }
}

/** @returns the servers; or the port after the one that is not free */
async function bindAll(first: number, count: number): Promise<Server[] | number> {
  const servers: Server[] = [];
  for (let port = first; port < first + count; port += 1) {
    const server = await bind(port);
    if (server === undefined) {
      await closeAll(servers);
      return port + 1;
    }
    servers.push(server);
  }
  return servers;
}

function bind(port: number): Promise<Server | undefined> {
  return new Promise(resolve => {
    const server = createServer();
    // Whatever the reason: this port cannot be used.
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map(server => new Promise<void>(resolve => server.close(() => resolve()))),
  );
}
