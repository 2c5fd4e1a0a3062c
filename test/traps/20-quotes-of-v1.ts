import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import { document } from '../e2e/gannet.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { SOL, USDC } from './trap-fixture.ts';

const QUOTE = '/swap/v1/quote';
const SWAP = '/swap/v1/swap';
const ASKED = { inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) };

export const quotesOfV1: Trap = {
  number: 20,
  title: 'version 1: a transaction that is known to fail, null shares, and a quote that must be sent back unchanged',
  plays: [
    {
      says: 'a transaction that failed on trial is named so, and lands as a failure if it is sent all the same',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        const quote = await fixture.service.swapV1.quote({ ...ASKED, slippageBps: 50 });
        const good = await fixture.service.swapV1.swap({ userPublicKey: trader.address, quoteResponse: quote });
        expect(good.simulationError).toBeUndefined();
        await fixture.scalePrice(SOL, 1.1);
        const doomed = await fixture.service.swapV1.swap({
          userPublicKey: trader.address, quoteResponse: quote, dynamicComputeUnitLimit: true,
        });
        expect(doomed.simulationError).toMatchObject({ message: expect.stringMatching(/\w/) });
        const { transaction, signature } = await trader.signUnread(doomed.transaction);
        await fixture.chain.send(transaction);
        expect(fixture.sandbox.chain.transaction(signature)?.error).toBeTruthy();
        expect(fixture.held(trader.address, USDC)).toBe(2_000_000_000n);
      },
    },
    {
      says: '"gannet v1 swap" ends with 1 on such a transaction and says why',
      profiles: ['live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        const folder = mkdtempSync(join(tmpdir(), 'gannet-traps-v1-'));
        onTestFinished(() => { rmSync(folder, { recursive: true, force: true }); });
        const { raw } = await fixture.service.swapV1.quote(ASKED);
        const file = join(folder, 'quote.json');
        writeFileSync(file, raw.rawJson);
        await fixture.scalePrice(SOL, 1.1);
        const doomed = await fixture.gannet([
          'v1', 'swap', '--quote', file, '--user-public-key', trader.address, '--dynamic-compute-unit-limit', 'true',
          '--json',
        ]);
        expect(doomed.code, doomed.stdout + doomed.stderr).toBe(1);
        expect(document(doomed)).toMatchObject({ simulationError: { message: expect.stringMatching(/\w/) } });
      },
    },
    {
      says:
        'a share comes in percent or in basis points, the other one null: both are read, neither is taken for nothing',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const request = { inputMint: USDC, outputMint: SOL, amount: '20000000' };
        for (const [instructionVersion, percent] of [['V1', 100], ['V2', undefined]] as const) {
          const raw = await fixture.get(QUOTE, { ...request, instructionVersion });
          expect(raw.body.routePlan[0].percent).toBe(percent ?? null);
          expect(raw.body.routePlan[0].bps ?? null).toBe(instructionVersion === 'V2' ? 10_000 : null);
          const quote = await fixture.service.swapV1.quote({ ...ASKED, instructionVersion });
          expect(quote.routePlan[0]).toMatchObject({ bps: 10_000 });
          expect(quote.routePlan[0]!.percent).toBe(percent);
        }
        await fixture.fault({
          path: QUOTE, fault: { kind: 'patch', set: { '/routePlan/0/percent': null, '/routePlan/0/bps': null } },
          times: 1,
        });
        const silent = await fixture.service.swapV1.quote(ASKED);
        expect([silent.routePlan[0]!.percent, silent.routePlan[0]!.bps]).toEqual([undefined, undefined]);
      },
    },
    {
      says:
        'a quote goes back byte for byte, with undocumented members and numbers beyond doubles; through a file as well',
      profiles: ['reference', 'live'],
      async play(fixture) {
        const trader = await newTrader(fixture);
        const { text } = await fixture.get(QUOTE, { inputMint: USDC, outputMint: SOL, amount: '20000000' });
        const strange = `{ "zeta":1e2,"unit": 1.50, "big":9007199254740993,\n`
          + `"details":{"b":[1,{"y":null}],"a":"\\u00e9\\/"},${text.slice(1, -1)}  }`;
        await fixture.fault({ path: QUOTE, fault: { kind: 'malformed', body: strange } });
        const quote = await fixture.service.swapV1.quote(ASKED);
        expect(quote.raw.rawJson).toBe(strange);
        const again = fixture.service.swapV1.readQuote(quote.raw.rawJson);
        const from = fixture.wire.sent.length;
        for (const quoteResponse of [quote, again]) {
          const { transaction } = await fixture.service.swapV1.swap({ userPublicKey: trader.address, quoteResponse });
          expect(transaction.length).toBeGreaterThan(100);
        }
        const bodies = fixture.wire.to(SWAP, from).map(({ body }) => body!);
        expect(bodies).toHaveLength(2);
        for (const body of bodies) expect(body).toContain(`"quoteResponse":${strange}`);
      },
    },
    {
      says: 'one that was rounded or trimmed on the way is refused, which is why it is never rewritten',
      async play(fixture) {
        const trader = await newTrader(fixture);
        const { raw } = await fixture.service.swapV1.quote(ASKED);
        const { body } = await fixture.get(QUOTE, { inputMint: USDC, outputMint: SOL, amount: '20000000' });
        const rounded = JSON.stringify({ ...body, outAmount: String(Number(body.outAmount) + 1) });
        const { routePlan: _lost, ...trimmed } = JSON.parse(raw.rawJson) as Record<string, unknown>;
        for (const changed of [rounded, JSON.stringify(trimmed)]) {
          await expect(fixture.service.swapV1.swap(
            { userPublicKey: trader.address, quoteResponse: fixture.service.swapV1.readQuote(changed) },
          ))
            .rejects.toMatchObject({
              code: 'SERVICE_STATUS',
              details: { status: expect.any(Number), serviceMessage: expect.stringMatching(/quote/) },
            });
        }
      },
    },
  ],
};
