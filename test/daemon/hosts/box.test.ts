import { createSocket } from 'node:dgram';
import {
  closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBox } from '../../../src/daemon/hosts/box.ts';

const ENTRY = join(import.meta.dirname, 'probe.ts');
const CANARY = 'canary-of-the-box';

describe('a process in a box', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-box-'));
  const canary = join(folder, 'canary');
  const arrived: string[] = [];
  const server = createServer((socket) => {
    arrived.push('tcp');
    socket.destroy();
  });
  const local = createServer(() => { arrived.push('unix'); });
  const datagrams = createSocket('udp4');
  let results: Readonly<Record<string, string>>;
  let box: ReturnType<typeof startBox>;

  beforeAll(async () => {
    writeFileSync(canary, CANARY, { mode: 0o644 });
    const unix = join(folder, 'socket');
    datagrams.on('message', () => { arrived.push('udp'); });
    await Promise.all([
      new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); }),
      new Promise<void>((resolve) => { local.listen(unix, resolve); }),
      new Promise<void>((resolve) => { datagrams.bind(0, '127.0.0.1', resolve); }),
    ]);
    box = startBox({
      entry: ENTRY, readable: [ENTRY], heapMb: 96, args: [JSON.stringify({
        canary, folder, unix, parent: process.pid,
        tcp: (server.address() as AddressInfo).port, udp: datagrams.address().port,
      })],
    });
    for await (const line of createInterface({ input: box.child.stdio[3] as Readable })) {
      results = JSON.parse(line) as typeof results;
      break;
    }
  });
  afterAll(() => {
    box.child.kill('SIGKILL');
    server.close();
    local.close();
    datagrams.close();
    rmSync(folder, { recursive: true });
  });

  it('cannot do anything outside its own code', () => {
    const done = Object.entries(results).filter(([name, result]) =>
      result.startsWith('succeeded') && (process.getuid?.() === 0 || name !== 'signal the daemon'));
    expect(done).toEqual([]);
    expect(Object.keys(results).length).toBeGreaterThan(25);
    expect(JSON.stringify(results)).not.toContain(CANARY);
    expect(readdirSync(folder).sort()).toEqual(['canary', 'socket']);
    expect(existsSync('/tmp/gannet-probe')).toBe(false);
  });

  it('reaches no listener', () => {
    expect(arrived).toEqual([]);
  });

  it('has no variable but the folder of compiled code', () => {
    expect(results['environment']).toMatch(/^(?:NODE_COMPILE_CACHE)?$/);
    expect(readFileSync(`/proc/${box.child.pid}/environ`, 'utf8')).toMatch(/^(?:NODE_COMPILE_CACHE=[^\0]+\0)?$/);
  });

  it('has no descriptor of the daemon but its channel', () => {
    // One that the daemon itself was started with, and would pass on.
    const own = openSync(canary, 'r');
    const targets = new Set(readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        // The descriptor of the folder that was read.
        return [];
      }
    }));
    closeSync(own);
    const folderOfTheirs = `/proc/${box.child.pid}/fd`;
    const theirs = readdirSync(folderOfTheirs).map((fd) => readlinkSync(join(folderOfTheirs, fd)));
    const shared = theirs.filter((target) => targets.has(target) && !target.startsWith('anon_inode:'));
    expect(shared.filter((target) => target !== '/dev/null')).toEqual([]);
    expect(theirs.filter((target) => target.startsWith('socket:')).length).toBe(2);
  });

  it.runIf(process.getuid?.() === 0)('runs as a user that owns nothing, and can gain no rights', () => {
    const status = readFileSync(`/proc/${box.child.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
    expect(status).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m);
    expect(status).toMatch(/^Groups:\t\s*$/m);
  });

  it('writes no core file', () => {
    expect(readFileSync(`/proc/${box.child.pid}/limits`, 'utf8')).toMatch(/^Max core file size\s+0\s+0/m);
  });
});
