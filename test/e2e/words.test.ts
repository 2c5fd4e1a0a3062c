import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended, Playground } from './gannet.ts';
import { childrenOf, configText, createPlayground, daemonOf, document } from './gannet.ts';

let playground: Playground;
beforeAll(() => { playground = createPlayground(); });
afterAll(() => playground.close());

describe('a run without --json', () => {
  let live: Ended;
  let stopped: Ended;
  beforeAll(async () => {
    const config = playground.write('gannet.yaml', configText('gannet.yaml'));
    const paper = playground.write('paper.yaml', configText('paper.yaml', [['every: 1m', 'every: 2s']]));
    const [daemon, onPaper] = [
      playground.start(['run', '--config', config, '--state-dir', playground.path('live'), '--duration', '2m']),
      playground.start(['run', '--config', paper, '--state-dir', playground.path('paper'), '--duration', '2m']),
    ];
    await daemon.until((stdout) => stdout.includes('landed by /order') && stdout.includes('landed by /build'));
    // As a terminal does when it is closed: it tells everybody.
    const trading = await daemonOf(daemon);
    for (const pid of [...childrenOf(trading), trading, daemon.pid]) process.kill(pid, 'SIGHUP');
    await onPaper.until((stdout) => stdout.split('filled on paper').length > 2);
    // As a terminal does when Ctrl-C is pressed.
    onPaper.signal('SIGINT');
    [live, stopped] = await Promise.all([daemon.ended, onPaper.ended]);
  }, 180_000);

  it('prints feeds, decisions with reasons, outcomes and costs', () => {
    expect(live.code, live.stderr).toBe(0);
    expect(live.stdout).toMatch(/wallet\s+\w{32,44}/);
    expect(live.stdout).toMatch(/watching\s+the /);
    expect(live.stdout).toContain('the price of 25 USDC in SOL, every 5s');
    expect(live.stdout).toContain('the order book of SPRINGTIDE-26DEC31');
    expect(live.stdout).toMatch(/dca-sol\s+swap 1 USDC to SOL: purchase .* → dca-sol-1/);
    expect(live.stdout).toMatch(/landed by \/order and \/execute: 1 USDC → 0\.00\d+ SOL, fee 0\.00000\d+ SOL/);
    expect(live.stdout).toMatch(/landed by \/build and RPC: 1 USDC → \d+\.\d+ PEARL/);
    expect(live.stdout).toMatch(/swaps\s+\d+ confirmed/);
    expect(live.stdout).toMatch(/cost\s+0\.0000\d+ SOL in fees/);
    expect(live.stdout).toMatch(/again\s+npx gannet replay \S+/);
  });

  it('writes no colours and no JSON without a terminal', () => {
    expect(live.stdout).not.toContain('\u001b');
    expect(live.stdout).not.toMatch(/^\{/m);
    expect(live.stderr).toBe('');
  });

  it('names the paper mode, drains at Ctrl-C before its time is up, and can be replayed to the same hash', async () => {
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.stdout).toContain('none: paper money');
    expect(stopped.stdout).not.toContain('landed');
    expect(stopped.stdout).toContain('stopped by the operator');
    const [, runId] = /again\s+npx gannet replay (\S+)/.exec(stopped.stdout)!;
    const [, hash] = /hash\s+([0-9a-f]{64})/.exec(stopped.stdout)!;
    const replay = await playground.run(['replay', runId!, '--json', '--state-dir', playground.path('paper')], {
      environment: { TZ: 'Asia/Kathmandu', LC_ALL: 'tr_TR.UTF-8' },
    });
    expect(replay.code).toBe(0);
    expect(document(replay)).toMatchObject({ match: true, decision_hash: hash, recorded_hash: hash });
  });
});
