import { beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { MEMO_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import { POLICY_CODES } from '../../../src/signer/policy/codes.ts';
import { createPolicy, inferExpectation } from '../../../src/signer/policy/policy.ts';
import { decompile, recompile } from './decompile.ts';
import { collectGoldens, type Golden } from './goldens.ts';
import { inLayout, LAYOUT_PROGRAM } from './layout-goldens.ts';
import { MUTANT_KINDS, mutantsOf } from './mutants.ts';
import { instruction } from './raw-instructions.ts';
import { asV1, withV1 } from './v1-goldens.ts';

/**
 * 44 goldens and some of them in version 1 make about 16,000 mutants; the long form takes more:
 * GANNET_MUTATED_GOLDENS=400.
 */
const COUNT = Number(process.env['GANNET_MUTATED_GOLDENS'] ?? 44);

/** Rules that no change of a golden breaks alone; they have tests of their own. */
const BROKEN_ELSEWHERE = new Set(Object.keys(POLICY_CODES).filter((code) =>
  code.startsWith('SIMULATION_') || code === 'CLOSING_ONLY'));

let goldens: readonly Golden[];
beforeAll(async () => {
  goldens = await collectGoldens({ count: COUNT, seed: 2 });
}, 300_000);

describe('the policy on changed transactions', () => {
  test('allows a transaction that was only decompiled and compiled again', () => {
    const policy = createPolicy();
    let judged = 0;
    for (const { bytes, tables, expectation } of goldens) {
      for (const form of ['legacy', 'written', 'shared'] as const) {
        const same = recompile(decompile(bytes, tables), form);
        if (same.bytes.length > 1_232) continue;
        expect(policy.judge(same.bytes, expectation, same).findings).toEqual([]);
        judged += 1;
      }
    }
    expect(judged).toBeGreaterThan(2 * goldens.length);
  });

  test('allows the same transactions in version 1, at the same cost', () => {
    const policy = createPolicy();
    let judged = 0;
    for (const golden of goldens) {
      for (const { bytes, tables, expectation } of asV1(golden) ?? []) {
        const { findings, summary } = policy.judge(bytes, expectation, { tables });
        expect(findings).toEqual([]);
        expect(summary!.version).toBe(1);
        expect(summary!.costs).toEqual(policy.judge(golden.bytes, expectation, golden).summary!.costs);
        const inferred = [{ bytes, tables }, golden].map((each) =>
          inferExpectation(each.bytes, expectation.wallet, { tables: each.tables, tools: policy }));
        expect(inferred[0]).toEqual(inferred[1]);
        judged += 1;
      }
    }
    expect(judged).toBeGreaterThan(0.9 * goldens.length);
  });

  test('allows a swap of version 1 that is longer than any earlier transaction', () => {
    const policy = createPolicy();
    const [version1] = asV1(goldens.find(({ kind }) => kind === 'order, iris, paid by the taker')!)!;
    const parts = decompile(version1.bytes, version1.tables);
    const memo = (bytes: number): Uint8Array => recompile({
      ...parts, instructions: [...parts.instructions, instruction(MEMO_PROGRAM, Buffer.alloc(bytes, 'x'), [])],
    }, 'written').bytes;
    const room = 4_096 - memo(0).length;
    for (const bytes of [memo(1_300), memo(room)]) {
      const { findings, summary } = policy.judge(bytes, version1.expectation, version1);
      expect([findings, summary!.bytes]).toEqual([[], bytes.length]);
    }
    expect(policy.judge(Buffer.concat([memo(room), Buffer.of(0)]), version1.expectation, version1).code)
      .toBe('SIZE_EXCEEDED');
  });

  test('denies every mutant, with the code of the broken rule', () => {
    const policy = createPolicy();
    const random = seededRandom('mutants');
    const kinds = new Set<string>();
    const codes = new Set<string>();
    const wrong: string[] = [];
    let [made, namedFirst] = [0, 0];
    for (const golden of withV1(goldens, { every: 3 })) {
      for (const { kind, code, bytes, tables } of mutantsOf(golden, random)) {
        made += 1;
        kinds.add(kind);
        codes.add(code);
        const verdict = policy.judge(bytes, golden.expectation, { tables });
        if (verdict.verdict !== 'deny' || !verdict.findings.some((finding) => finding.code === code)) {
          wrong.push(`${golden.kind}: ${kind}: expected ${code}, got ${JSON.stringify(verdict.findings)}`);
        }
        if (verdict.code === code) namedFirst += 1;
      }
    }
    expect(wrong).toEqual([]);
    expect(made).toBeGreaterThan(Math.min(2_000, 200 * goldens.length));
    expect(namedFirst / made).toBeGreaterThan(0.98);
    expect(MUTANT_KINDS.filter((kind) => ![...kinds].some((seen) => seen === kind || seen.startsWith(`${kind},`))))
      .toEqual([]);
    expect(MUTANT_KINDS.length).toBeGreaterThan(100);
    expect(Object.keys(POLICY_CODES).filter((code) => !codes.has(code) && !BROKEN_ELSEWHERE.has(code))).toEqual([]);
  });

  test('denies every mutant of the same swap in the layout of another program', () => {
    const policy = createPolicy([LAYOUT_PROGRAM]);
    const random = seededRandom('mutants in a layout');
    const wrong: string[] = [];
    let made = 0;
    for (const golden of goldens.flatMap((whole) => inLayout(whole, 'head') ?? [])) {
      for (const { kind, code, bytes, tables } of mutantsOf(golden, random)) {
        made += 1;
        const verdict = policy.judge(bytes, golden.expectation, { tables });
        const isFound = verdict.findings.some((finding) => finding.code === code);
        // What only the embedded program's own form has is an unread swap in another one.
        if (verdict.verdict !== 'deny' || !(isFound || verdict.code === 'SWAP_UNREADABLE'))
          wrong.push(`${golden.kind}: ${kind}: expected ${code}, got ${JSON.stringify(verdict.findings)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(made).toBeGreaterThan(Math.min(2_000, 100 * goldens.length));
  });
});
