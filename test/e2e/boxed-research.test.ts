import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSwings } from '../research/trials/trial-setup.ts';
import { SOL, USDC } from '../market/tokens.ts';
import type { Ended } from './gannet.ts';
import { createPlayground } from './gannet.ts';

const SECRET = 'a-canary-that-no-strategy-may-read';
const playground = createPlayground();
const arrived: string[] = [];
const servers: Server[] = [];
const udp = createSocket('udp4');
let recording = '';
let ports = { tcp: 0, udp: 0 };

beforeAll(async () => {
  recording = await writeSwings(playground.dir);
  const tcp = createServer((socket) => { arrived.push('tcp'); socket.destroy(); });
  const local = createServer((socket) => { arrived.push('unix'); socket.destroy(); });
  servers.push(tcp, local);
  await once(tcp.listen(0, '127.0.0.1'), 'listening');
  await once(local.listen(playground.path('canary.sock')), 'listening');
  udp.on('message', () => { arrived.push('udp'); });
  await once(udp.bind(0, '127.0.0.1'), 'listening');
  ports = { tcp: (tcp.address() as AddressInfo).port, udp: udp.address().port };
  playground.write('canary.txt', SECRET);
  playground.write('state/control.json', `{ "token": "${SECRET}" }`);
  playground.write('.env', `GANNET_SECRET=${SECRET}`);
});
afterAll(async () => {
  for (const server of servers) server.close();
  udp.close();
  await playground.close();
});

/** Tries everything at its import and again as it runs, tells what it got, and trades on regardless. */
function hostileStrategy(): string {
  return `
import { mergeMap, of } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, pair, quotes } from 'gannet';
// A text in the form of an import grants nothing: from './canary.txt' from './state/control.json' from './.env'
const got = (what) => { console.error('GOT ' + what); };
const outside = ['${playground.path('canary.txt')}', '${playground.path('state', 'control.json')}',
  '${playground.path('.env')}', '/etc/passwd', '/proc/self/environ', '/proc/' + process.ppid + '/environ',
  '/proc/' + process.ppid + '/mem', '/proc/self/maps'];
const attacks = {
  fs: async () => {
    const fs = await import('node:fs');
    for (const path of outside) {
      try { got(path + ' ' + fs.readFileSync(path, 'latin1').slice(0, 80)); } catch {}
      fs.promises.readFile(path, 'utf8').then((text) => got('promise ' + text), () => {});
    }
    for (const path of ['${playground.path('written')}', '${playground.path('state', 'written')}'])
      try { fs.writeFileSync(path, 'x'); got('wrote'); } catch {}
    try { fs.symlinkSync('/etc/passwd', '${playground.path('link')}'); got('linked'); } catch {}
    try { fs.unlinkSync('${playground.path('canary.txt')}'); got('removed'); } catch {}
    for (let fd = 6; fd < 40; fd++) try { if (fs.fstatSync(fd).isSocket()) got('socket ' + fd); } catch {}
  },
  net: async () => {
    const net = await import('node:net');
    net.connect(${ports.tcp}, '127.0.0.1').on('error', () => {}).on('connect', () => got('tcp'));
    net.connect('${playground.path('canary.sock')}').on('error', () => {}).on('connect', () => got('unix'));
    net.createServer().on('error', () => {}).listen(0, () => got('listening'));
    fetch('http://127.0.0.1:${ports.tcp}/').then(() => got('fetch'), () => {});
    const socket = (await import('node:dgram')).createSocket('udp4').on('error', () => {});
    socket.send('x', ${ports.udp}, '127.0.0.1', () => {});
    (await import('node:dns')).lookup('localhost', (error) => { if (!error) got('dns'); });
  },
  child: async () => { (await import('node:child_process')).spawn('touch', ['${playground.path('child')}']); },
  worker: async () => {
    const { Worker } = await import('node:worker_threads');
    new Worker('require("fs").writeFileSync("${playground.path('worker')}", "x")', { eval: true, execArgv: [] });
  },
  sqlite: async () => { new (await import('node:sqlite')).DatabaseSync('${playground.path('database')}'); },
  cluster: async () => { (await import('node:cluster')).default.fork(); },
  v8: async () => { (await import('node:v8')).setFlagsFromString('--allow-natives-syntax'); got('v8'); },
  addon: async () => { process.dlopen({ exports: {} }, '/usr/lib/any.node'); got('addon'); },
  binding: async () => { process.binding('spawn_sync').spawn({ file: '/bin/true', args: ['true'] }); got('binding'); },
  signal: async () => { process.kill(process.ppid, 'SIGKILL'); got('signal'); },
  group: async () => { process._kill(0, 9); got('group'); },
  builtin: async () => { got('builtin ' + process.getBuiltinModule('node:fs')); },
  environment: async () => { for (const [name, value] of Object.entries(process.env)) got(name + '=' + value); },
  permission: async () => { process.permission.drop('fs.read'); got('permission'); },
};
const attack = () => { for (const each of Object.values(attacks)) each().catch(() => {}); };
attack();
export default defineStrategy({ name: 'hostile', summary: 'Attacks.',
  params: z.strictObject({ pair: pair(), size: amount(), every: z.int().default(10) }),
  inputs: (p) => { attack(); return { price: quotes(p.pair, { amount: p.size, every: '5s' }) }; },
  run: ({ price }, p, ctx) => { attack(); return price.pipe(mergeMap((_, n) =>
    n % p.every === 0 && ctx.openIntents() === 0 ? of(ctx.buy(p.pair, p.size, 'bought')) : [])); } });
`;
}

function configOf(name: string, strategy: string): string {
  return playground.write(name, `mode: paper
tokens: { SOL: ${SOL.mint}, USDC: ${USDC.mint} }
backtest: { balances: { USDC: "1000", SOL: "1000" } }
risk: { max_slippage_bps: 50, max_trade: "500 USDC" }
strategies:
  - ${strategy}
`);
}

function run(args: readonly string[]): Promise<Ended> {
  return playground.run(['--json', '--state-dir', playground.path('state'), ...args], {
    environment: { GANNET_API_KEY: SECRET, GANNET_CONTROL_TOKEN: SECRET },
  });
}

describe('a hostile strategy in a research command', { timeout: 60_000 }, () => {
  it.each([
    ['backtest', []],
    ['sweep', ['--workers', '1', '--objective', 'total_return', '--grid']],
  ])('gets nothing out of %s and trades on', async (command, flags) => {
    playground.write('hostile.ts', hostileStrategy());
    const config = configOf('hostile.yaml',
      '{ use: ./hostile.ts, name: dip, budget: "500 USDC", params: { pair: SOL/USDC, size: "25 USDC" } }');
    const grid = playground.write('grid.yaml', 'params: { dip.every: [9] }\n');
    const { code, stdout, stderr } =
      await run([command, config, '--recording', recording, ...flags, ...(flags.length > 0 ? [grid] : [])]);
    expect(stderr).not.toContain('GOT');
    expect(`${stdout}${stderr}`).not.toContain(SECRET);
    expect(['written', 'state/written', 'link', 'child', 'worker', 'database']
      .filter((name) => existsSync(playground.path(name)))).toStrictEqual([]);
    expect(playground.read('canary.txt')).toBe(SECRET);
    expect(arrived).toStrictEqual([]);
    expect([code, JSON.parse(stdout)], stderr).toMatchObject([
      0, command === 'sweep' ? { trials: 1, failed: [] } : { decisions: expect.any(Number) as number },
    ]);
  });

  it('is told with its file and line what the box refuses', async () => {
    writeFileSync(playground.path('reads.ts'), `import { readFileSync } from 'node:fs';
import { map } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, pair, quotes } from 'gannet';
export default defineStrategy({ name: 'reads', summary: 'Reads.',
  params: z.strictObject({ pair: pair(), size: amount() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }) => price.pipe(map(() => readFileSync('/etc/passwd'))) });
`);
    const config = configOf('reads.yaml',
      '{ use: ./reads.ts, name: dip, budget: "500 USDC", params: { pair: SOL/USDC, size: "25 USDC" } }');
    const { stdout } = await run(['backtest', config, '--recording', recording, '--no-grid']);
    expect((JSON.parse(stdout) as { warnings: string[] }).warnings[0]).toMatch(
      /^strategy dip stopped: reads\.ts:8:\d+ tried to read a file \(\/etc\/passwd\): strategies run without file acc/,
    );
    playground.write('spawns.ts', "import 'node:child_process';\nexport default 1;\n");
    const refused = await run([
      'backtest', configOf('spawns.yaml', '{ use: ./spawns.ts }'), '--recording', recording,
    ]);
    expect([refused.code, refused.stdout]).toStrictEqual([2, expect.stringContaining(
      'cannot be loaded: spawns.ts: it imports node:child_process: strategies run without other processes',
    )]);
  });

  it('ends at once at Ctrl-C, although it never returns', async () => {
    playground.write('loops.ts', `import { map } from 'rxjs';
import { z } from 'zod';
import { amount, defineStrategy, pair, quotes } from 'gannet';
export default defineStrategy({ name: 'loops', summary: 'Never ends its first price.',
  params: z.strictObject({ pair: pair(), size: amount() }),
  inputs: (p) => ({ price: quotes(p.pair, { amount: p.size, every: '5s' }) }),
  run: ({ price }) => price.pipe(map(() => { console.error('it loops'); for (;;); })) });
`);
    const config = configOf('loops.yaml',
      '{ use: ./loops.ts, name: dip, budget: "500 USDC", params: { pair: SOL/USDC, size: "25 USDC" } }');
    const running = playground.start(['--state-dir', playground.path('state'), 'backtest', config,
      '--recording', recording, '--no-grid']);
    await expect.poll(running.stderr).toContain('it loops');
    running.signal('SIGINT');
    expect((await running.ended).code).toBe(130);
  });
});
