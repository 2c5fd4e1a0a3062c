import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/time.ts';
import { openConnections } from '../../../src/daemon/run/connections.ts';
import type { Connections } from '../../../src/daemon/run/connections.ts';
import type { Mint } from '../../../src/market/token.ts';
import { USDC_MINT } from '../../../src/market/token.ts';
import { impatientClock } from '../../execution/impatient-clock.ts';
import { json, listen } from '../../service/loopback.ts';
import type { Loopback, Responder } from '../../service/loopback.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

const MINT = '2qCyb5d8tCHRDifULDpznuKU1LGmuifVvoawZwVAX9C8' as Mint;
const FIVE_MINUTES = 300_000;
/** Waiting takes a hundredth of its time. */
const HASTE = 100;

const good = json([
  { id: MINT, symbol: 'X', name: 'X', decimals: 6, tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
]);

interface Opened {
  readonly connections: Connections;
  readonly told: string[];
  readonly server: Loopback;
  readonly clock: Clock;
}

/** A connections before a service whose token search is in trouble until a number of requests came. */
async function openBefore({
  trouble, until = Infinity, stateDir = temporaryFolder(), server, withinMs = FIVE_MINUTES,
}: {
  readonly trouble: Responder; readonly until?: number; readonly stateDir?: string; readonly server?: Loopback;
  readonly withinMs?: number;
}): Promise<Opened> {
  let asked = 0;
  const answering = server ?? await listen((request, response: ServerResponse) => {
    asked += 1;
    (asked <= until ? trouble : good)(request, response);
  });
  const clock = impatientClock(HASTE);
  const told: string[] = [];
  const onFault = (message: string): void => { told.push(message); };
  const connections = await openConnections({
    baseUrl: answering.baseUrl, rpcUrl: undefined, apiKey: undefined, dialect: 'neutral',
    plan: { requestsPerSecond: 1_000 }, seed: 7, clock,
    tokenRecords: { stateDir, onFault }, startTimeout: { withinMs, onWaiting: onFault },
  });
  return { connections, told, server: answering, clock };
}

describe('issue 13.18: a start while the service has trouble', () => {
  it.each([
    ['429 with a time', json({}, { status: 429, headers: { 'retry-after': '9' } }), 9_000],
    ['429 without a time', json({}, { status: 429 }), 1_000],
    ['503 with a time', json({}, { status: 503, headers: { 'retry-after': '9' } }), 9_000],
    ['503 without a time', json({}, { status: 503 }), 1_000],
  ])('waits through %s, says so, and goes on', async (_name, trouble, leastMs) => {
    const { connections, told, clock, server } = await openBefore({ trouble, until: 4 });
    const startedAt = clock.now();
    expect(await connections.decimalsOf([MINT])).toEqual(new Map([[MINT, 6]]));
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(4 * leastMs);
    expect(server.received.length).toBe(5);
    expect(told).toHaveLength(4);
    for (const line of told) expect(line).toMatch(/^waiting for the service: .*; the next attempt is in \d+ s$/);
    await connections.close();
  });

  it('fails at its timeout with the reason', async () => {
    const { connections } = await openBefore({ trouble: json({}, { status: 503 }), withinMs: 20_000 });
    await expect(connections.decimalsOf([MINT])).rejects.toMatchObject({
      code: 'SERVICE_STATUS', message: expect.stringMatching(/503.*the start waited \d+ s for the service/) as string,
    });
    await connections.close();
  });

  it('does not wait for a refused key', async () => {
    const { connections, told } = await openBefore({ trouble: json({}, { status: 401 }) });
    await expect(connections.decimalsOf([MINT])).rejects.toMatchObject({ code: 'SERVICE_UNAUTHORIZED' });
    expect(told).toEqual([]);
    await connections.close();
  });

  it('continues at once with the token records of an earlier run', async () => {
    const stateDir = temporaryFolder();
    let trouble: Responder = good;
    const server = await listen((request, response) => { trouble(request, response); });
    const first = await openBefore({ trouble: good, server, stateDir });
    await first.connections.decimalsOf([MINT]);
    await first.connections.close();
    trouble = json({}, { status: 503 });
    const second = await openBefore({ trouble, server, stateDir });
    expect(await second.connections.decimalsOf([MINT])).toEqual(new Map([[MINT, 6]]));
    expect(second.told).toEqual([
      expect.stringMatching(
        /^waiting for the service: .*503.*the token records of an earlier run are used until then$/,
      ),
    ]);
    await second.connections.close();
    // What is not stored is waited for.
    const third = await openBefore({ trouble, server, stateDir, withinMs: 2_000 });
    await expect(third.connections.decimalsOf([MINT, USDC_MINT])).rejects.toMatchObject({ code: 'SERVICE_STATUS' });
    await third.connections.close();
  });

  it('stops waiting when it is closed', async () => {
    const { connections, told } =
      await openBefore({ trouble: json({}, { status: 503, headers: { 'retry-after': '60' } }) });
    const asked = expect(connections.decimalsOf([MINT])).rejects.toMatchObject({ code: 'SERVICE_STATUS' });
    while (told.length === 0) await new Promise((resolve) => { setTimeout(resolve, 5); });
    await connections.close();
    await asked;
  });
});
