import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { dialectNames, loadDialect } from '../../src/service/wire/dialect.ts';
import type { SwapTerms } from '../../src/signer/policy/instruction.ts';
import { TOKEN_PROGRAM } from '../../src/solana/constants.ts';
import { readSwapPrograms } from '../../src/signer/dialect-programs.ts';

interface Row {
  readonly program: string;
  readonly instructions?: readonly {
    readonly name: string;
    readonly discriminator: string;
    readonly accounts: Readonly<Record<string, number>>;
    readonly data: Readonly<Record<string, number | { readonly at: number; readonly bytes: number }>>;
    readonly minimum?: 'ceil' | 'floor';
  }[];
}

const dialects = dialectNames().map((name) => {
  const text = readFileSync(join(import.meta.dirname, '../../config/dialects', `${name}.yaml`), 'utf8');
  return { name, text, rows: ((parse(text) as { swap_programs?: readonly Row[] }).swap_programs ?? []) };
});
const layouts = dialects.flatMap(({ text, rows }) => rows.flatMap(({ program, instructions = [] }) =>
  instructions.map((instruction) => ({ text, program, instruction }))));

describe('the swap programs of the dialects that come with the project', () => {
  test('are read by the signer, and ignored by the reader of the vocabulary', () => {
    expect(layouts.length).toBeGreaterThan(3);
    for (const { name, text, rows } of dialects) {
      expect(readSwapPrograms(name, text).map(({ program, decode }) => [program, decode !== undefined]))
        .toEqual(rows.map(({ program, instructions = [] }) => [program, instructions.length > 0]));
      expect(loadDialect(name).name).toBe(name);
    }
  });

  test('have the discriminators of their names', () => {
    for (const { instruction: { name, discriminator } } of layouts)
      expect(hash('sha256', `global:${name}`).slice(0, 16), name).toBe(discriminator);
  });

  test('read back every field of an instruction', () => {
    for (const { text, program, instruction: { name, discriminator, accounts, data, minimum } } of layouts) {
      const reader = readSwapPrograms('dialect', text).find((entry) => entry.program === program)!.decode!;
      const places = Array.from({ length: Math.max(...Object.values(accounts)) + 1 }, (_, place) => `account ${place}`);
      for (const [role, place] of Object.entries(accounts))
        if (role.endsWith('_program')) places[place] = TOKEN_PROGRAM;
      if (accounts['other_destination'] !== undefined) places[accounts['other_destination']] = program;
      const bytes = Buffer.alloc(80);
      bytes.set(Buffer.from(discriminator, 'hex'));
      const put = (field: string, value: bigint, width: number): void => {
        const found = data[field];
        if (found === undefined) return;
        const { at, bytes: length } = typeof found === 'number' ? { at: found, bytes: width } : found;
        for (let byte = 0; byte < length; byte++)
          bytes[(at < 0 ? bytes.length + at : at) + byte] = Number((value >> BigInt(8 * byte)) & 255n);
      };
      put('amount_in', 123_456_789_012n, 8);
      put('quoted_out', 1_000_001n, 8);
      put('slippage_bps', 50n, 2);
      put('platform_fee_bps', 20n, 1);
      const terms = reader({ index: 0, program, accounts: places, data: bytes });
      expect(terms, name).toMatchObject({
        user: `account ${accounts['user']!}`, source: `account ${accounts['source']!}`,
        destination: `account ${accounts['destination']!}`, outputMint: `account ${accounts['output_mint']!}`,
        inputMint: accounts['input_mint'] === undefined ? undefined : `account ${accounts['input_mint']}`,
        amountIn: 123_456_789_012n,
        minimumOut: minimum === undefined ? 1_000_001n : minimum === 'ceil' ? 995_001n : 995_000n,
        platformFeeBps: data['platform_fee_bps'] === undefined ? 0 : 20,
      });
      const isAtEnd = Object.values(data).some((field) => (typeof field === 'number' ? field : field.at) < 0);
      expect((terms as SwapTerms).unproven, name)
        .toEqual(isAtEnd ? expect.stringContaining('at the end of its data') : undefined);
      expect(reader({ index: 0, program, accounts: places, data: Buffer.from('ffffffffffffffff00', 'hex') }))
        .toBe('opaque');
    }
  });

  test('round the minimum of the newer instructions as public answers do', () => {
    const newer = layouts.filter(({ instruction: { name } }) => name.endsWith('route_v2'));
    expect(newer.map(({ instruction: { minimum } }) => minimum)).toEqual(['ceil', 'ceil', 'ceil']);
    for (const [quoted, bps, minimum] of PUBLIC_MINIMUMS) {
      for (const { text, program, instruction: { discriminator, accounts, data } } of newer) {
        const bytes = Buffer.alloc(40);
        bytes.write(discriminator, 'hex');
        bytes.writeBigUInt64LE(quoted, data['quoted_out'] as number);
        bytes.writeUInt16LE(bps, data['slippage_bps'] as number);
        const places = Array.from({ length: Math.max(...Object.values(accounts)) + 1 }, () => TOKEN_PROGRAM);
        const read = readSwapPrograms('dialect', text).find((entry) => entry.program === program)!.decode!;
        expect(read({ index: 0, program, accounts: places, data: bytes })).toMatchObject({ minimumOut: minimum });
      }
    }
  });
});

/** Quoted output, basis points and least output of public answers (research notes, November 2026). */
const PUBLIC_MINIMUMS: readonly (readonly [quoted: bigint, bps: number, minimum: bigint])[] = [
  [166_974n, 1, 166_958n], [16_198_753n, 50, 16_117_760n], [9_998_099n, 50, 9_948_109n], [6_015_074n, 50, 5_984_999n],
  [822_723_485n, 10, 821_900_762n],
];
