import { Keypair } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WalletTokenAccount } from '../../../src/chain/wallet-contents.ts';
import type { Chain } from '../../../src/chain/chain.ts';
import { GannetError } from '../../../src/core/errors.ts';
import { closeAccounts } from '../../../src/daemon/run/account-closing.ts';
import type { ChainFixture } from '../../chain/chain-fixture.ts';
import { startChainFixture } from '../../chain/chain-fixture.ts';
import { impatientClock } from '../../execution/impatient-clock.ts';

type Closings = Awaited<ReturnType<typeof closeAccounts<WalletTokenAccount>>>;
type ClosingParts = Parameters<typeof closeAccounts>[0];

const CLOCK_FACTOR = 200;
const MINTS = Array.from({ length: 17 }, (_, index) =>
  Keypair.fromSeed(new Uint8Array(32).fill(40 + index)).publicKey.toBase58());

let fixture: ChainFixture;
beforeAll(async () => {
  fixture = await startChainFixture();
  for (const mint of MINTS) fixture.node.createMint({
    mint, decimals: 6, tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', supply: 1_000n,
  });
});
afterAll(() => fixture.close());

/** A wallet with 17 empty accounts, whose chain goes on with every question; `closing` begins a closing of them. */
async function furnished(): Promise<{
  readonly address: string;
  readonly accounts: readonly WalletTokenAccount[];
  readonly closing: (
    change?: { readonly refuseFrom?: number; readonly isCancelled?: () => boolean; readonly chain?: Partial<Chain> },
  ) => Promise<Closings>;
}> {
  const { address, signer } = fixture.wallet();
  for (const mint of MINTS) fixture.node.fundToken({ owner: address, mint, amount: 0n });
  fixture.node.advanceSlots(2);
  const { accounts } = await fixture.chain.wallet(address);
  return {
    address, accounts,
    closing: ({ refuseFrom = Infinity, isCancelled = () => false, chain = {} } = {}) => {
      let signed = 0;
      const parts: ClosingParts = {
        chain: {
          ...fixture.chain,
          signatureStatus: (...args) => {
            fixture.node.advanceSlots(1);
            return fixture.chain.signatureStatus(...args);
          },
          ...chain,
        },
        signer: {
          address,
          closeAccounts: (bytes) => {
            signed += 1;
            return signed < refuseFrom ? signer.sign(bytes)
              : Promise.reject(new GannetError('SIGN_REFUSED', 'nothing was signed: CAP_EXCEEDED_DAY'));
          },
        },
        clock: impatientClock(CLOCK_FACTOR), isCancelled, onFault: (fault) => { throw fault; },
      };
      return closeAccounts(parts, accounts);
    },
  };
}

const statesOf = ({ reports }: Closings): string[] => reports.map(({ state }) => state);

describe('the closing of token accounts', () => {
  it('sends one transaction after another, 15 accounts each, and reports the returned lamports', async () => {
    const { address, accounts, closing } = await furnished();
    const before = fixture.node.balance(address);
    const closings = await closing();
    expect(statesOf(closings)).toStrictEqual(Array.from({ length: 17 }, () => 'closed'));
    expect(new Set(closings.reports.map(({ signature }) => signature)).size).toBe(2);
    const back = closings.reports.reduce((sum, { backLamports }) => sum + backLamports, 0n);
    expect(back).toBe(accounts.reduce((sum, { lamports }) => sum + lamports, 0n));
    expect(fixture.node.balance(address)).toBe(before + back - closings.feeLamports);
  });

  it('reports accounts left after a refusal of the signer, and throws where nothing was sent', async () => {
    const { closing } = await furnished();
    const closings = await closing({ refuseFrom: 2 });
    expect(statesOf(closings)).toStrictEqual([...Array.from({ length: 15 }, () => 'closed'), 'left', 'left']);
    expect(closings.reports.at(-1)).toMatchObject({
      backLamports: 0n, signature: undefined, reason: expect.stringContaining('CAP_EXCEEDED_DAY') as string,
    });
    await expect((await furnished()).closing({ refuseFrom: 1 })).rejects.toMatchObject({ code: 'SIGN_REFUSED' });
  });

  it('leaves out an account that has received tokens in between', async () => {
    const { address, closing } = await furnished();
    fixture.node.fundToken({ owner: address, mint: MINTS[3]!, amount: 1n });
    const { reports } = await closing();
    expect(reports.filter(({ state }) => state !== 'closed')).toMatchObject([{
      account: { mint: MINTS[3] }, state: 'refused', backLamports: 0n,
      reason: expect.stringContaining('would not close it') as string,
    }]);
    expect(fixture.node.tokenBalance({ owner: address, mint: MINTS[3]! })).toBe(1n);
  });

  it('reports open transactions after an interruption, and starts no other one', async () => {
    const { closing } = await furnished();
    let isCancelled = false;
    const closings = await closing({
      isCancelled: () => isCancelled,
      chain: {
        send: () => {
          isCancelled = true;
          return Promise.resolve({ kind: 'accepted' });
        },
      },
    });
    expect(statesOf(closings)).toStrictEqual([...Array.from({ length: 15 }, () => 'unknown'), 'left', 'left']);
    expect(closings.feeLamports).toBe(0n);
    expect(closings.reports[0]).toMatchObject({ signature: expect.any(String) as string, backLamports: 0n });
  });
});
