import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, constants, openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, Playground, Running } from './gannet.ts';
import { createPlayground, document, PROJECT } from './gannet.ts';

const WALLET = '2qCyb5d8tCHRDifULDpznuKU1LGmuifVvoawZwVAX9C8';
const SOL = 'So11111111111111111111111111111111111111112';

let playground: Playground;
let service: Server;
let config: string;
let waiting: string;

/** Says what the tokens are and nothing else, ever; under /silent not even that. */
beforeAll(async () => {
  playground = createPlayground();
  service = createServer((request, response) => {
    if (request.url?.startsWith('/silent') === true || request.url?.includes('search') !== true) return;
    response.setHeader('content-type', 'application/json')
      .end(JSON.stringify([{ id: SOL, name: 'Wrapped SOL', symbol: 'SOL', decimals: 9 }]));
  });
  await new Promise<void>((resolve) => { service.listen(0, '127.0.0.1', resolve); });
  const { port } = service.address() as AddressInfo;
  const text = (path: string): string =>
    `service: { base_url: "http://127.0.0.1:${port}${path}", plan: pro, api_key: key }
chain: { rpc_url: "http://127.0.0.1:${port}/silent" }
wallet: { address: ${WALLET} }
control: { port: 0 }
tokens: { SOL: ${SOL} }
strategies: [{ use: book-watch, params: { market: TIDE, level: 0.6, rearm: 0.5 } }]
`;
  config = playground.write('service.yaml', text(''));
  waiting = playground.write('silent.yaml', text('/silent'));
});
afterAll(async () => {
  service.closeAllConnections();
  service.close();
  await playground.close();
});

/** A state of its own for each service: what is left of another one's rate would be waited for. */
const within = (args: readonly string[], file: string): string[] =>
  [...args, '--config', file, '--state-dir', `${file}-state`];
const start = (args: readonly string[], file: string): Running => playground.start(within(args, file));

/** Resolves when the service is asked for something under a path. */
function asked(path: string): Promise<void> {
  return new Promise((resolve) => {
    const watch = ({ url = '' }: { url?: string | undefined }): void => {
      if (!url.startsWith(path)) return;
      service.off('request', watch);
      resolve();
    };
    service.on('request', watch);
  });
}

describe('one interrupt ends a waiting command at once, with exit code 130', () => {
  it.each<readonly [string, readonly string[], 'config' | 'waiting', string]>([
    ['a reading command', ['markets', 'TIDE', '--json'], 'config', '/prediction'],
    ['a reading command that has not started', ['markets', 'TIDE', '--json'], 'waiting', '/silent'],
    ['a run that has not begun', ['run', '--json'], 'waiting', '/silent'],
  ])('%s', async (_name, args, file, path) => {
    const hears = asked(path);
    const command = start(args, file === 'config' ? config : waiting);
    await hears;
    const since = performance.now();
    command.signal('SIGINT');
    const ended = await command.ended;
    expect(ended.code, ended.stderr).toBe(130);
    expect(document(ended)['error']).toMatchObject({ code: 'INTERRUPTED' });
    // Well under any timeout of a request.
    expect(performance.now() - since).toBeLessThan(5_000);
  });

  it('a quote from a pipe without a writer', async () => {
    const pipe = playground.path('never-written');
    execFileSync('mkfifo', [pipe]);
    const command = start(['v1', 'swap', '--quote', pipe, '--user-public-key', WALLET, '--json'], config);
    const writer = await writerOf(pipe);
    command.signal('SIGINT');
    const ended = await command.ended;
    closeSync(writer);
    expect(ended.code, ended.stderr).toBe(130);
    expect(document(ended)['error']).toMatchObject({ code: 'INTERRUPTED' });
  });
});

/**
 * Returns the writing end once a reader waits on a named pipe: until then it cannot be opened for
 * writing without waiting.
 */
async function writerOf(pipe: string): Promise<number> {
  for (;;) {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  }
}

describe('issue 19: a run under a service manager', () => {
  it('says by its exit code, and in its state, whether another start may succeed', async () => {
    playground.write('bin/systemd-notify', `#!/bin/sh\nprintf '%s\\n' "$*" >> "$NOTIFY_SOCKET"\n`);
    chmodSync(playground.path('bin/systemd-notify'), 0o755);
    const environment = {
      PATH: `${playground.path('bin')}:${process.env['PATH'] ?? ''}`, NOTIFY_SOCKET: playground.path('messages'),
    };
    const run = (name: string, text: string): Promise<Ended> => playground.run(
      within(['run', '--json'], playground.write(name, text)), { environment },
    );
    const strategies = `strategies: [{ use: dca, budget: "9 USDC", params: { buy: SOL, spend: "1 USDC", every: 1h } }]
`;
    const unreachable = await run('unreachable.yaml', `control: { port: 0 }
service: { base_url: "http://127.0.0.1:1", plan: keyless }
wallet: { address: ${WALLET} }
${strategies}`);
    expect([unreachable.code, document(unreachable)['error']]).toMatchObject([75, { code: 'SERVICE_UNREACHABLE' }]);
    const wrong = await run('wrong.yaml', `mode: both\n${strategies}`);
    expect([wrong.code, document(wrong)['error']]).toMatchObject([2, { code: 'CONFIG_INVALID' }]);
    expect(playground.read('messages').split('\n')).toEqual(expect.arrayContaining([
      'STATUS=starting', expect.stringMatching(/^STATUS=tries again: .*127\.0\.0\.1:1/) as string,
    ]));
  });
});

describe('an invalid quote is refused as a usage error, by its name', () => {
  it.each([
    ['a table for people', 'table.txt', '  you pay  1 SOL\n', 'expected JSON'],
    ['nothing', 'empty.json', '', 'expected JSON, got an empty body'],
    ['another document', 'other.json', '{"quote":1}', 'expected a base58 address'],
    ['more than a quote ever is', 'long.json', 'x'.repeat(1_100_000), 'expected at most 1048576 bytes'],
    ['a device without end', '/dev/zero', undefined, 'expected a file or a pipe, got a device'],
    ['a folder', '/', undefined, 'expected a file or a pipe, got a folder'],
    ['a file that is not there', '/nowhere/quote.json', undefined, 'no such file'],
  ])('%s', async (_name, file, text, words) => {
    const quote = text === undefined ? file : playground.write(file, text);
    const ended =
      await playground.ask(within(['v1', 'swap', '--quote', quote, '--user-public-key', WALLET, '--json'], config));
    expect(ended.code).toBe(2);
    expect(document(ended)['error']).toMatchObject({ code: 'USAGE', message: expect.stringContaining(words) });
    expect(document(ended)['error']).toMatchObject({ message: expect.stringContaining(`--quote ${quote}`) });
  });
});

describe('an option with an unreadable value', () => {
  it.each([
    [
      'a form that is no JSON',
      ['v1', 'swap', '--quote', '-', '--user-public-key', WALLET, '--prioritization-fee-lamports', '{bad'],
    ],
    ['a list with nothing in it', ['order', 'SOL', 'SOL', '1', '--exclude-routers', '']],
    ['a port that is none', ['sandbox', '--port', '65536']],
  ])('is one USAGE document: %s', async (_name, args) => {
    const ended = await playground.ask(within([...args, '--json'], config));
    expect(ended.code, ended.stderr).toBe(2);
    expect(document(ended)['error']).toMatchObject({ code: 'USAGE', message: expect.stringContaining(args.at(-2)!) });
  });
});

describe('an output path that cannot be written', () => {
  it.each([
    ['what was asked', ['config', 'schema']], ['what went wrong', ['replay', 'nowhere', '--json']],
  ])('is said, with exit code 1: %s', async (_name, args) => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(join(PROJECT, 'bin', 'gannet'), args, { cwd: playground.dir, stdio: ['ignore', full, 'pipe'] });
    let stderr = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => { stderr += text; });
    const [code] = await once(child, 'close') as [number];
    closeSync(full);
    expect(stderr).toMatch(/^standard output or standard error cannot be written: .*ENOSPC.*\n$/);
    expect(code).toBe(1);
  });
});
