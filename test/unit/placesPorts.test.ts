import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { leasePorts } from '../../src/orchestrator/places/ports.ts';
import { tempDir } from '../support/cleanEnv.ts';

async function canListen(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  const can = await listening;
  server.close();
  return can;
}

describe('leased ports', () => {
  test('are different for all parallel lanes, and unused', async () => {
    await using temp = await tempDir('ralph-ports-');
    const counts = [10, 3, 10, 7];
    const leases = await Promise.all(counts.map(count => leasePorts(temp.path, count)));
    const ports = leases.flatMap(({ count, first }) =>
      Array.from({ length: count }, (_, index) => first + index),
    );
    assert.equal(new Set(ports).size, 30);
    const [lease] = leases;
    assert.ok(lease !== undefined);
    assert.equal(await canListen(lease.first), false);
    await lease.open();
    assert.equal(await canListen(lease.first), true);
    // Still leased.
    const other = await leasePorts(temp.path, 10);
    assert.ok(!ports.includes(other.first));
    await Promise.all([...leases, other].map(each => each.dispose()));
    assert.deepEqual(await readdir(temp.path), []);
  });

  test('skip a port that is in use', async () => {
    await using temp = await tempDir('ralph-ports-');
    // A lease from another folder: here nothing is known of it, except that its ports are bound.
    await using otherTemp = await tempDir('ralph-ports-');
    const other = await leasePorts(otherTemp.path, 2);
    const next = await leasePorts(temp.path, 2);
    assert.ok(Math.abs(next.first - other.first) >= 2);
    await next.dispose();
    await other.dispose();
  });

  test('of a dead process are free again', async () => {
    await using temp = await tempDir('ralph-ports-');
    const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(child, 'exit');
    await writeFile(path.join(temp.path, '20000-11999.json'), JSON.stringify({ pid: child.pid }));
    await writeFile(path.join(temp.path, '20500-10.json'), 'not ours');
    const lease = await leasePorts(temp.path, 1);
    assert.equal((await readdir(temp.path)).length, 1);
    await lease.dispose();
  });

  test('of a living process are not given to others', async () => {
    await using temp = await tempDir('ralph-ports-');
    const file = path.join(temp.path, '20000-12000.json');
    await writeFile(file, JSON.stringify({ pid: process.pid }));
    await assert.rejects(leasePorts(temp.path, 1), /no 1 free ports/);
  });
});
