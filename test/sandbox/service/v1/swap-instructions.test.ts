import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL, startTestSandbox, USDC, type TestSandbox } from '../sandbox-client.ts';
import { BUY, v1Of, type V1 } from './v1-client.ts';

let sandbox: TestSandbox;
let v1: V1;
beforeAll(async () => {
  sandbox = await startTestSandbox({ speed: 0 });
  v1 = v1Of(sandbox);
});
afterAll(() => sandbox.close());

describe('POST /swap/v1/swap-instructions', () => {
  it('gives the same swap in pieces', async () => {
    const wallet = await v1.wealthy();
    const quoteResponse = await v1.quoted(BUY);
    const { status, body } = await sandbox.post('/swap/v1/swap-instructions', {
      userPublicKey: wallet.address, quoteResponse, prioritizationFeeLamports: { bundleTipLamports: 5_000 },
    });
    const wire =
      { programId: expect.any(String), accounts: expect.any(Array), data: expect.stringMatching(/^[A-Za-z0-9+/=]+$/) };
    expect(status).toBe(200);
    expect(body).toEqual({
      tokenLedgerInstruction: null, computeBudgetInstructions: [wire, wire], setupInstructions: [wire],
      swapInstruction: wire, cleanupInstruction: wire,
      otherInstructions: [wire], addressLookupTableAddresses: [expect.any(String)],
    });
    expect(body.swapInstruction.accounts[0]).toEqual({ pubkey: wallet.address, isSigner: true, isWritable: false });
  });

  it('says more on the live service', async () => {
    const live = await startTestSandbox({ speed: 0, profile: 'live' });
    try {
      const theirs = v1Of(live);
      const wallet = await live.newWallet({ [SOL]: '1000000000', [USDC]: '100000000' });
      const quote = await theirs.quoted(BUY);
      const fields = { userPublicKey: wallet.address, quoteResponse: quote };
      const { body } = await live.post('/swap/v1/swap-instructions', fields);
      expect(body).toMatchObject({
        prioritizationFeeLamports: expect.any(Number), computeUnitLimit: 1_400_000,
        prioritizationType: { computeBudget: { microLamports: expect.any(Number) } },
        simulationSlot: live.chain.slot, simulationError: null, dynamicSlippageReport: null,
        blockhashWithMetadata: { lastValidBlockHeight: expect.any(Number) },
      });
      expect(Object.keys(body.addressesByLookupTableAddress)).toEqual(body.addressLookupTableAddresses);
      const swapped = await theirs.swapped(quote, wallet);
      expect((await theirs.land(swapped.swapTransaction, wallet)).err).toBeNull();
      // What the live service alone says of a quote need not come back.
      const { updateContextSlot: _updateContextSlot, ...without } = quote;
      expect((await theirs.swap(without, wallet)).status).toBe(200);
    } finally {
      await live.close();
    }
  });
});
