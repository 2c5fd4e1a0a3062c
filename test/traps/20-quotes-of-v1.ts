import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { amount } from '../../src/core/amount.ts';
import { document } from '../e2e/gannet.ts';
import type { Trap } from './trap.ts';
import { newTrader } from './trader.ts';
import { SOL, USDC } from './world.ts';

const QUOTE = '/swap/v1/quote';
const SWAP = '/swap/v1/swap';
const ASKED = { inputMint: USDC, outputMint: SOL, amount: amount(20_000_000n) };

export const quotesOfV1: Trap = {
  number: 20,
  title: 'the first version: a transaction that is known to fail, shares that are null, and a quote that must go back as it came',
  plays: [
    {
      says: 'a transaction that failed on trial is named so, and lands as a failure if it is sent all the same',
      profiles: ['reference', 'live'],
      async play(world) {
        const trader = await newTrader(world);
        const quote = await world.service.swapV1.quote({ ...ASKED, slippageBps: 50 });
        const good = await world.service.swapV1.swap({ userPublicKey: trader.address, quoteResponse: quote });
        expect(good.simulationError).toBeUndefined();
        await world.scalePrice(SOL, 1.1);
        const doomed = await world.service.swapV1.swap({
          userPublicKey: trader.address, quoteResponse: quote, dynamicComputeUnitLimit: true,
        });
        expect(doomed.simulationError).toMatchObject({ message: expect.stringMatching(/\w/) });
        const { transaction, signature } = await trader.signUnread(doomed.transaction);
        await world.chain.send(transaction);
        expect(world.sandbox.chain.transaction(signature)?.error).toBeTruthy();
        expect(world.held(trader.address, USDC)).toBe(2_000_000_000n);
      },
    },
    {
      says: '"gannet v1 swap" ends with 1 on such a transaction and says why',
      profiles: ['live'],
      async play(world) {
        const trader = await newTrader(world);
        const folder = mkdtempSync(join(tmpdir(), 'gannet-traps-v1-'));
        onTestFinished(() => { rmSync(folder, { recursive: true, force: true }); });
        const { raw } = await world.service.swapV1.quote(ASKED);
        const file = join(folder, 'quote.json');
        writeFileSync(file, raw.rawJson);
        await world.scalePrice(SOL, 1.1);
        const doomed = await world.gannet([
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
      async play(world) {
        const request = { inputMint: USDC, outputMint: SOL, amount: '20000000' };
        for (const [instructionVersion, percent] of [['V1', 100], ['V2', undefined]] as const) {
          const raw = await world.get(QUOTE, { ...request, instructionVersion });
          expect(raw.body.routePlan[0].percent).toBe(percent ?? null);
          expect(raw.body.routePlan[0].bps ?? null).toBe(instructionVersion === 'V2' ? 10_000 : null);
          const quote = await world.service.swapV1.quote({ ...ASKED, instructionVersion });
          expect(quote.routePlan[0]).toMatchObject({ bps: 10_000 });
          expect(quote.routePlan[0]!.percent).toBe(percent);
        }
        await world.fault({
          path: QUOTE, fault: { kind: 'patch', set: { '/routePlan/0/percent': null, '/routePlan/0/bps': null } },
          times: 1,
        });
        const silent = await world.service.swapV1.quote(ASKED);
        expect([silent.routePlan[0]!.percent, silent.routePlan[0]!.bps]).toEqual([undefined, undefined]);
      },
    },
    {
      says: 'a quote goes back byte for byte, with members that nobody described and numbers that no double holds; through a file as well',
      profiles: ['reference', 'live'],
      async play(world) {
        const trader = await newTrader(world);
        const { text } = await world.get(QUOTE, { inputMint: USDC, outputMint: SOL, amount: '20000000' });
        const strange = `{ "zeta":1e2,"unit": 1.50, "big":9007199254740993,\n"details":{"b":[1,{"y":null}],"a":"\\u00e9\\/"},${text.slice(1, -1)}  }`;
        await world.fault({ path: QUOTE, fault: { kind: 'malformed', body: strange } });
        const quote = await world.service.swapV1.quote(ASKED);
        expect(quote.raw.rawJson).toBe(strange);
        const again = world.service.swapV1.readQuote(quote.raw.rawJson);
        const from = world.wire.sent.length;
        for (const quoteResponse of [quote, again]) {
          const { transaction } = await world.service.swapV1.swap({ userPublicKey: trader.address, quoteResponse });
          expect(transaction.length).toBeGreaterThan(100);
        }
        const bodies = world.wire.to(SWAP, from).map(({ body }) => body!);
        expect(bodies).toHaveLength(2);
        for (const body of bodies) expect(body).toContain(`"quoteResponse":${strange}`);
      },
    },
    {
      says: 'one that was rounded or trimmed on the way is refused, which is why it is never written anew',
      async play(world) {
        const trader = await newTrader(world);
        const { raw } = await world.service.swapV1.quote(ASKED);
        const { body } = await world.get(QUOTE, { inputMint: USDC, outputMint: SOL, amount: '20000000' });
        const rounded = JSON.stringify({ ...body, outAmount: String(Number(body.outAmount) + 1) });
        const { routePlan: _lost, ...trimmed } = JSON.parse(raw.rawJson) as Record<string, unknown>;
        for (const changed of [rounded, JSON.stringify(trimmed)]) {
          await expect(world.service.swapV1.swap(
            { userPublicKey: trader.address, quoteResponse: world.service.swapV1.readQuote(changed) },
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
