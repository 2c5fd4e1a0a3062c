import { beforeAll, describe, expect, test } from 'vitest';
import { GENESIS_TOKENS } from '../../../src/sandbox/genesis.ts';
import { TOKEN_2022_PROGRAM } from '../../../src/solana/constants.ts';
import { createPolicy } from '../../../src/signer/policy/policy.ts';
import { collectGoldens, type Golden } from './goldens.ts';
import { inLayout, LAYOUT_PROGRAM } from './layout-goldens.ts';

/** 2,000 in the long form: GANNET_GOLDENS=2000. */
const COUNT = Number(process.env['GANNET_GOLDENS'] ?? 330);

let goldens: readonly Golden[];
beforeAll(async () => {
  goldens = await collectGoldens({ count: COUNT, seed: 1 });
}, 300_000);

describe('the policy on transactions of the service', () => {
  test('allows all, for every router, receiver and payer', () => {
    const policy = createPolicy();
    const denied = goldens.flatMap(({ kind, bytes, expectation, tables }) => {
      const { verdict, findings } = policy.judge(bytes, expectation, { tables });
      return verdict === 'allow' ? [] : [`${kind}: ${JSON.stringify(findings)}`];
    });
    expect(denied).toEqual([]);
    const kinds = [...new Set(goldens.map(({ kind }) => kind))];
    expect(kinds).toEqual(expect.arrayContaining([
      ...['iris', 'routerA', 'routerB'].flatMap(
        (router) => ['the taker', 'another', 'the service'].map((payer) => `order, ${router}, paid by ${payer}`),
      ).filter((kind) => !/router[AB], paid by the service/.test(kind)), 'order, iris, paid by the taker, tip',
      'order, iris, paid by the taker, receiver', 'order, iris, paid by another, receiver',
      'order, iris, paid by the taker, referral',
      'order, rfqz, paid by the maker', 'order, rfqz, paid by the maker, receiver',
      'order, rfqz, paid by the maker, referral',
      'build', 'build, wrapped', 'build, token account', 'build, native', 'build, fee', 'build, payer',
    ]));
  });

  test('allows the same swaps in the layout of another program', () => {
    const policy = createPolicy([LAYOUT_PROGRAM]);
    const laidOut = goldens.flatMap((golden) => inLayout(golden, 'head') ?? [])
      .filter(({ bytes }) => bytes.length <= 1_232);
    expect(laidOut.length).toBeGreaterThan(goldens.length / 2);
    const findings = laidOut.flatMap(({ kind, bytes, expectation, tables }) =>
      policy.judge(bytes, expectation, { tables })
        .findings.map((finding) => ({ kind, outputMint: expectation.outputMint, ...finding })));
    // A mint that may keep part of what is moved is for a simulation to see.
    const mayKeepBack = new Set(GENESIS_TOKENS.filter(({ tokenProgram }) => tokenProgram === TOKEN_2022_PROGRAM)
      .map(({ mint }) => mint));
    expect(findings.filter(({ code, outputMint }) => !(code === 'SWAP_UNREADABLE' && mayKeepBack.has(outputMint))))
      .toEqual([]);
    expect(findings.length)
      .toBe(laidOut.filter(({ expectation: { outputMint } }) => mayKeepBack.has(outputMint)).length);
  });

  test('summarises effects, signers and costs, with the service’s own amounts', () => {
    const policy = createPolicy();
    for (const { bytes, expectation, tables } of goldens) {
      const summary = policy.judge(bytes, expectation, { tables }).summary!;
      expect(summary.signers).toContain(expectation.wallet);
      expect(summary.instructions.every(({ text }) => text.length > 10)).toBe(true);
      expect(summary.swap.amountIn).toBe(expectation.amountIn);
      expect(summary.swap.minimumOut).toBeGreaterThanOrEqual(expectation.minimumOut);
      if (expectation.route === 'order' && summary.costs.paidByWallet)
        expect(summary.costs.feeLamports).toBe(expectation.maxFeeLamports);
      if (summary.costs.paidByWallet) expect(summary.costs.tipLamports).toBe(expectation.maxTipLamports ?? 0n);
    }
  });

  test('denies all under the terms of another order', () => {
    const policy = createPolicy();
    const strictest = goldens.map(({ bytes, expectation, tables }) => {
      const judge = (changed: object): string | undefined =>
        policy.judge(bytes, { ...expectation, ...changed }, { tables }).code;
      return [
        judge({ amountIn: expectation.amountIn - 1n }),
        judge({ minimumOut: expectation.minimumOut + 1_000_000_000_000_000_000n }),
        judge({ wallet: expectation.outputMint }), judge({ outputMint: expectation.wallet }),
        judge({ receiver: 'SysvarC1ock11111111111111111111111111111111' }),
      ];
    });
    expect(strictest.flat().filter((code) => code === undefined)).toEqual([]);
  });
});
