import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { DIALECTS_DIR } from '../../../src/core/code-files.ts';
import { GENESIS_TOKENS, TOKEN_2022_PROGRAM } from '../../../src/sandbox/genesis.ts';
import { readSwapPrograms } from '../../../src/signer/dialect-programs.ts';
import { createPolicy, type Policy } from '../../../src/signer/policy/policy.ts';
import { swapPrograms } from '../../../src/signer/policy/swap-programs.ts';
import { collectGoldens, type Golden } from './goldens.ts';

const FILE = join(DIALECTS_DIR, 'neutral.yaml');
const LARGEST_TIP = 100_000n;

let goldens: readonly Golden[];
let policy: Policy;
beforeAll(async () => {
  goldens = await collectGoldens({ count: 110, seed: 3, profile: 'live' });
  policy = createPolicy([...swapPrograms(), ...readSwapPrograms(FILE, readFileSync(FILE, 'utf8'))]);
}, 300_000);

/** Returns the codes of what the policy finds where so much more may be tipped. */
function findings({ bytes, expectation, tables }: Golden, most: bigint): string[] {
  const allowed = (expectation.maxTipLamports ?? 0n) + most;
  return policy.judge(bytes, { ...expectation, maxTipLamports: allowed }, { tables }).findings.map(({ code }) => code);
}

/** Whether the swap needs a simulation: the program has no layout, or the output's mint may withhold part of it. */
function isUnreadable({ kind, expectation }: Golden): boolean {
  const output = GENESIS_TOKENS.find(({ mint }) => mint === expectation.outputMint)!;
  return kind.includes('routerA')
    || (!kind.includes('routerB') && !kind.includes('rfqz') && output.tokenProgram === TOKEN_2022_PROGRAM);
}

describe('the policy on orders and builds of the profile live', () => {
  test('reads the aggregator’s layout, and asks for a simulation where there is none', () => {
    expect(goldens.length).toBeGreaterThan(50);
    const wrong = goldens.flatMap((golden) => {
      const expected = isUnreadable(golden) ? ['SWAP_UNREADABLE'] : [];
      const found = findings(golden, LARGEST_TIP);
      return JSON.stringify(found) === JSON.stringify(expected) ? [] : [`${golden.kind}: ${found.join(' ')}`];
    });
    expect(wrong).toEqual([]);
    expect(goldens.filter(isUnreadable).length).toBeGreaterThan(1);
  });

  test('refuses the service’s own tips unless they are allowed', () => {
    const refused = goldens.filter((golden) => findings(golden, 0n).includes('TRANSFER_DESTINATION'));
    expect(refused.length).toBeGreaterThan(3);
    expect(refused.length).toBeLessThan(goldens.length / 2);
  });
});
