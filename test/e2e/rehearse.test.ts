import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readHostProfileFile } from '../../src/service/wire/host-profile.ts';
import type { RehearsalHost, RehearsalScene } from '../daemon/rehearsal/rehearsal-fixture.ts';
import { rehearsalScene, startRehearsalHost } from '../daemon/rehearsal/rehearsal-fixture.ts';
import type { Ended, Playground } from './gannet.ts';
import { createPlayground, document, startSandbox } from './gannet.ts';

let playground: Playground;
let host: RehearsalHost;
beforeAll(async () => {
  playground = createPlayground();
  host = await startRehearsalHost();
});
afterEach(() => {
  host.lies = {};
  host.asked.length = 0;
});
afterAll(async () => {
  await playground.close();
  await host.close();
});

function scene(): RehearsalScene {
  const made = rehearsalScene(host);
  onTestFinished(() => { made.close(); });
  return made;
}

/** Runs a command with its own signer process, and proves at the socket that nothing was sent. */
async function gannet(at: RehearsalScene, ...args: readonly string[]): Promise<Ended> {
  const file = join(at.folder, 'live.yaml');
  writeFileSync(file, at.config, { mode: 0o600 });
  const ended = await playground.run([...args, '--config', file, '--state-dir', at.stateDir],
    { environment: { GANNET_API_KEY: at.environment['GANNET_API_KEY']! } });
  expect(host.asked.filter((asked) => asked === 'sendTransaction' || asked.endsWith('/execute'))).toEqual([]);
  return ended;
}

interface Document {
  readonly ok: boolean;
  readonly profile_file: string;
  readonly routes: readonly { readonly route: string; readonly verdict: string; readonly setting: string | null }[];
}

describe('gannet rehearse', () => {
  it('allows every route of a sound host, writes its profile for the owner alone, and begins no counters', async () => {
    const at = scene();
    const ended = await gannet(at, 'rehearse', '--json');
    expect(ended.code, ended.stdout + ended.stderr).toBe(0);
    const { ok, routes, profile_file: file } = document(ended) as unknown as Document;
    expect(ok).toBe(true);
    expect(new Set(routes.map(({ route, verdict }) => `${route} ${verdict}`)))
      .toEqual(new Set(['order allow', 'build allow']));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    expect(readHostProfileFile(file).host).toBe(host.url);
    for (const secret of [at.environment['GANNET_API_KEY']!, host.sandbox.addresses.wallet.address])
      expect(text).not.toContain(secret);
    // What it learned is what a sandbox loads.
    expect((await startSandbox(playground, 7, '--profile', file)).base_url).toMatch(/^http:/);
    expect(existsSync(join(at.stateDir, 'signer'))).toBe(false);
    expect(readdirSync(at.stateDir).filter((name) => name.includes('journal'))).toEqual([]);
  });

  it('ends with 1 for a tip that the signer does not allow, says so to people, and swap --dry-run --live alike',
    async () => {
      const at = scene();
      host.lies = { query: (path, query) => {
        if (path.endsWith('/order') && query.has('taker')) query.set('bundleTipLamports', '50000000');
      } };
      const ended = await gannet(at, 'rehearse', '--pair', 'USDC/SOL:10');
      expect(ended.code, ended.stderr).toBe(1);
      expect(ended.stdout).toContain('no signature leaves the signer');
      expect(ended.stdout).toContain('setting  signer.max_tip');
      const swap = await gannet(at, 'swap', 'USDC', 'SOL', '10', '--dry-run', '--live', '--json');
      expect(swap.code, swap.stdout + swap.stderr).toBe(1);
      const { rehearsal } = document(swap) as unknown as { readonly rehearsal: Document };
      expect(rehearsal.routes).toMatchObject([{ route: 'order', verdict: 'deny', setting: 'signer.max_tip' }]);
    });

  it('ends with 2 for a faulty configuration, an unknown pair, and a file that is no profile of the host', async () => {
    const at = scene();
    const other = join(at.folder, 'other.json');
    writeFileSync(other, 'no profile');
    const { profile_file: file } = document(await gannet(at, 'rehearse', '--json')) as unknown as Document;
    const ofOther = readFileSync(file, 'utf8').replace(host.url, 'https://other.example');
    writeFileSync(file, ofOther);
    expect((await gannet(at, 'rehearse', '--profile-out', file)).stderr)
      .toContain('the profile of https://other.example');
    expect(readFileSync(file, 'utf8')).toBe(ofOther);
    for (const args of [['--pair', 'USDC'], ['--pair', 'USDC/NONE:1'], ['--profile-out', other]])
      expect((await gannet(at, 'rehearse', ...args)).code, args.join(' ')).toBe(2);
    expect(readFileSync(other, 'utf8')).toBe('no profile');
    host.asked.length = 0;
    expect((await gannet(at, 'rehearse', '--profile-out', other)).stderr).toContain('name another file');
    // Not one request of the plan was spent on a place that cannot be written.
    expect(host.asked).toEqual([]);
    at.replace('max_fee_bps: 30', 'max_fee_bps: none');
    const faulty = await gannet(at, 'rehearse');
    expect([faulty.code, faulty.stderr]).toEqual([2, expect.stringContaining('risk.max_fee_bps')]);
  });
});
