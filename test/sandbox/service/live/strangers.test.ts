import { afterEach, expect, test } from 'vitest';
import { decodeMint } from '../../../../src/sandbox/chain/token-layout.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/sandbox/genesis.ts';
import type { Profile } from '../../../../src/sandbox/service/context.ts';
import { startTestSandbox, type TestSandbox } from '../sandbox-client.ts';

const open: TestSandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

async function inVirtualTime(profile: Profile, seed: number): Promise<TestSandbox> {
  const sandbox =
    await startTestSandbox({ profile, seed, speed: 0, slotMs: 400, virtualStartMs: Date.UTC(2026, 10, 1) });
  open.push(sandbox);
  return sandbox;
}

/** Returns what strangers sent to the wallet in some hours of a sandbox in virtual time. */
async function giftsOf(profile: Profile, seed: number): Promise<{ kind: string; text: string }[]> {
  const sandbox = await inVirtualTime(profile, seed);
  const { address } = sandbox.wallet;
  const first = sandbox.chain.transactionCount;
  const found: { kind: string; text: string }[] = [];
  const seen = new Set<string>();
  for (let step = 0; step < 24; step++) {
    sandbox.advance(1_500);
    for (const landed of sandbox.chain.landedNewestFirst()) {
      if (seen.has(landed.signature)) break;
      seen.add(landed.signature);
      const place = landed.accountKeys.indexOf(address);
      if (place < 0 || step === 0) continue;
      const token = landed.postTokenBalances.find(({ owner }) => owner === address);
      const lamports = landed.postBalances[place]! - landed.preBalances[place]!;
      if (token === undefined) found.push({ kind: 'lamports', text: String(lamports) });
      else {
        const { owner, data } = sandbox.chain.account(token.mint)!;
        found.push({ kind: owner, text: `${token.mint} ${token.amount} ${decodeMint(data)!.decimals}` });
      }
    }
  }
  if (profile === 'reference') expect(sandbox.chain.transactionCount).toBe(first);
  return found;
}

test('strangers send a wallet lamports and tokens now and then, the same for the same seed', async () => {
  const [gifts, again] = [await giftsOf('live', 7), await giftsOf('live', 7)];
  expect(again).toEqual(gifts);
  expect(gifts.length).toBeGreaterThan(20);
  expect(gifts.length).toBeLessThan(25);
  expect(new Set(gifts.map(({ kind }) => kind))).toEqual(new Set(['lamports', TOKEN_PROGRAM, TOKEN_2022_PROGRAM]));
  const decimals = gifts.filter(({ kind }) => kind !== 'lamports').map(({ text }) => Number(text.split(' ').at(-1)));
  expect(Math.max(...decimals)).toBeGreaterThan(150);
  expect(new Set(decimals).size).toBeGreaterThan(5);
});

test('in the reference profile nothing comes from strangers', async () => {
  expect(await giftsOf('reference', 7)).toEqual([]);
});

test('after a leap of days a few gifts come at once', async () => {
  const sandbox = await inVirtualTime('live', 7);
  const before = sandbox.chain.transactionCount;
  sandbox.advance(1_000_000);
  expect(sandbox.chain.transactionCount - before).toBe(3);
});
