import { createSocket } from 'node:dgram';
import {
  closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync,
  rmSync, writeFileSync,
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
const isRoot = process.getuid?.() === 0;
/** Whether this process may read what belongs to others (bit 2): without that, closed code runs as the superuser. */
const readsAll = (Number.parseInt(/^CapEff:\t[0-9a-f]{8}([0-9a-f]{8})$/m.exec(
  readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '', 16) & 4) !== 0;
const CANARY = 'canary-of-the-box';

describe.each([
  ['any user', false], ['its owner alone', true],
] as const)('a process in a box, with code that %s can read', (_readers, isClosed) => {
  const isOther = isRoot && (readsAll || !isClosed);
  const closed = mkdtempSync(join(tmpdir(), 'gannet-closed-'));
  const entry = isClosed ? join(closed, 'probe.ts') : ENTRY;
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
    // A folder that mkdtemp creates is open to its owner alone.
    if (isClosed) copyFileSync(ENTRY, entry);
    const unix = join(folder, 'socket');
    datagrams.on('message', () => { arrived.push('udp'); });
    await Promise.all([
      new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); }),
      new Promise<void>((resolve) => { local.listen(unix, resolve); }),
      new Promise<void>((resolve) => { datagrams.bind(0, '127.0.0.1', resolve); }),
    ]);
    box = startBox({
      entry, readable: [entry], heapMb: 96, args: [JSON.stringify({
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
    for (const made of [folder, closed]) rmSync(made, { recursive: true });
  });

  it('cannot do anything outside its own code', () => {
    const done = Object.entries(results).filter(([name, result]) =>
      result.startsWith('succeeded') && (isOther || !['signal the daemon', 'become the superuser'].includes(name)));
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

  it.runIf(isOther)('runs as a user that owns nothing, and can gain no rights', () => {
    const status = readFileSync(`/proc/${box.child.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
    expect(status).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m);
    expect(status).toMatch(/^Groups:\t\s*$/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    // Of closed code, the process needs the capability of reading (bit 2), and gets no other.
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) {
      const [, bits] = new RegExp(`^Cap${set}:\\t([0-9a-f]{16})$`, 'm').exec(status)!;
      if (isClosed) expect([set, Number.parseInt(bits!, 16)]).toEqual([set, 4]);
      else if (set !== 'Bnd') expect([0, 4], set).toContain(Number.parseInt(bits!, 16));
    }
  });

  it('writes no core file', () => {
    expect(readFileSync(`/proc/${box.child.pid}/limits`, 'utf8')).toMatch(/^Max core file size\s+0\s+0/m);
  });
});
