import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES } from '../../../../src/sandbox/service/context.ts';
import { KEY, SOL, startTestSandbox, type TestSandbox } from '../sandbox-client.ts';
import { BUY, SELL, transactionOf, v1Of, type Body, type V1 } from './v1-client.ts';

let sandbox: TestSandbox;
let v1: V1;

function unitLimit(body: Body): number {
  const data = transactionOf(body).message.compiledInstructions.map((instruction) => Buffer.from(instruction.data))
    .find((bytes) => bytes.length === 5 && bytes[0] === 2)!;
  return data.readUInt32LE(1);
}

describe.each(PROFILES)('POST /swap/v1/swap, in the profile %s,', (profile) => {
  beforeAll(async () => {
    sandbox = await startTestSandbox({ speed: 0, profile });
    v1 = v1Of(sandbox);
  });
  afterAll(() => sandbox.close());

  it('bids what it is told', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted(BUY);
    const paid = async (fields: Record<string, unknown>): Promise<number> =>
      (await v1.swapped(quote, wallet, fields)).prioritizationFeeLamports;
    const fee = (prioritizationFeeLamports: unknown): Promise<number> => paid({ prioritizationFeeLamports });
    const level = (priorityLevel: string, maxLamports: number): Promise<number> =>
      fee({ priorityLevelWithMaxLamports: { priorityLevel, maxLamports, global: true } });
    expect(await fee(54_321)).toBe(54_321);
    expect(await fee(0)).toBe(0);
    expect(await paid({ computeUnitPriceMicroLamports: 1_000 })).toBe(1_400);
    const automatic = await fee('auto');
    expect(await fee(null)).toBeCloseTo(automatic, -2);
    const [medium, high, veryHigh] =
      [await level('medium', 10 ** 9), await level('high', 10 ** 9), await level('veryHigh', 10 ** 9)];
    expect(medium).toBeLessThan(high);
    expect(high).toBeLessThan(veryHigh);
    expect(await level('veryHigh', 777)).toBeLessThanOrEqual(777);
    expect(await fee({ bundleTipLamports: 66_000 })).toBe(66_000);
  });

  it('tells lamports and prices of any size to the unit', async () => {
    const [wallet, most] = [await v1.wealthy(), '18446744073709551615'];
    const quoteResponse = await v1.quoted(BUY);
    // A number that no double holds.
    const body = JSON.stringify({ userPublicKey: wallet.address, quoteResponse, prioritizationFeeLamports: 0 })
      .replace(/:0}$/, `:${most}}`);
    const answer = await fetch(`${sandbox.addresses.base_url}/swap/v1/swap`, {
      method: 'POST', headers: { 'content-type': 'application/json', ...KEY }, body,
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain(`"prioritizationFeeLamports":${most},`);
  });

  it('pays a tip to a builder instead of a fee to the chain, by whomever it is told', async () => {
    const [wallet, tipper] = [await v1.wealthy(), await sandbox.newWallet({ [SOL]: '10000000' })];
    const quote = await v1.quoted(SELL);
    const body = await v1.swapped(quote, wallet, {
      prioritizationFeeLamports: { bundleTipLamportsWithPayer: { lamports: 66_000, payer: tipper.address } },
    });
    const { signature, err } = await v1.land(body.swapTransaction, wallet, tipper);
    expect(err).toBeNull();
    expect(v1.held(tipper.address, SOL)).toBe(9_934_000n);
    expect(sandbox.chain.transaction(signature)!.feeLamports).toBe(10_000n);
  });

  it('limits compute units by a simulation when told so', async () => {
    const wallet = await v1.wealthy();
    const quote = await v1.quoted(BUY);
    expect(unitLimit(await v1.swapped(quote, wallet))).toBe(1_400_000);
    const dynamic = await v1.swapped(quote, wallet, { dynamicComputeUnitLimit: true });
    expect(unitLimit(dynamic)).toBeLessThan(300_000);
    expect((await v1.land(dynamic.swapTransaction, wallet)).err).toBeNull();
    const doomed =
      await v1.swapped(quote, await sandbox.newWallet({ [SOL]: '100000000' }), { dynamicComputeUnitLimit: true });
    expect([unitLimit(doomed), doomed.simulationError === null]).toEqual([1_400_000, false]);
  });
});
