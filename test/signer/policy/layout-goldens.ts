import type { Instruction } from '../../../src/sandbox/service/build/instructions.ts';
import { SWAP_PROGRAM_ID } from '../../../src/sandbox/chain/pools.ts';
import type { SwapLayout, SwapProgram } from '../../../src/signer/policy/swap-programs.ts';
import { layoutSwap } from '../../../src/signer/policy/swap-programs.ts';
import { decompile, recompile } from './decompile.ts';
import type { Golden } from './goldens.ts';
import { isSwap } from './victim.ts';

const SLIPPAGE_BPS = 50n;
const BPS = 10_000n;

/**
 * With its accounts and amounts where the embedded program's are, so that what is done to one can be done to the other.
 */
export const HEAD_LAYOUT: SwapLayout = {
  discriminator: Uint8Array.of(9, 1),
  accounts: {
    user: 0, source: 1, destination: 2, feeAccount: 3, inputMint: 4, inputProgram: 5, outputMint: 6, outputProgram: 7,
  },
  data: {
    platformFeeBps: { at: 2, bytes: 2 }, amountIn: { at: 8, bytes: 8 }, quotedOut: { at: 16, bytes: 8 },
  },
  slippage: { bps: { at: 24, bytes: 2 }, minimum: 'floor' },
};

/** The same amounts at the end of the data, behind a route of any length. */
export const TAIL_LAYOUT: SwapLayout = {
  ...HEAD_LAYOUT,
  discriminator: Uint8Array.of(9, 2),
  data: {
    amountIn: { at: -19, bytes: 8 }, quotedOut: { at: -11, bytes: 8 }, platformFeeBps: { at: -1, bytes: 1 },
  },
  slippage: { bps: { at: -3, bytes: 2 }, minimum: 'floor' },
};

/** The embedded program as if it took these instructions instead of its own. */
export const LAYOUT_PROGRAM: SwapProgram = { program: SWAP_PROGRAM_ID, decode: layoutSwap([HEAD_LAYOUT, TAIL_LAYOUT]) };

/**
 * Returns a golden with its swap in a layout, so that the least that comes out is what it was; undefined where it has
 * none.
 */
export function inLayout(golden: Golden, layout: 'head' | 'tail'): Golden | undefined {
  const parts = decompile(golden.bytes, golden.tables);
  if (!parts.instructions.some(isSwap)) return undefined;
  const instructions = parts.instructions.map((instruction) =>
    (isSwap(instruction) ? laidOut(instruction, layout) : instruction));
  const made = recompile({ ...parts, instructions }, 'shared');
  return { ...golden, ...made, kind: `${golden.kind}, in a ${layout} layout` };
}

function laidOut({ programId, accounts, data }: Instruction, layout: 'head' | 'tail'): Instruction {
  const view = Buffer.from(data);
  const last = 4 + 2 * view[1]!;
  const [amountIn, minimum, fee] = [view.readBigUInt64LE(8), view.readBigUInt64LE(16), view.readUInt16LE(2)];
  // The least quote of which this minimum is left, so that one unit less would show.
  const quoted = (minimum * BPS + BPS - SLIPPAGE_BPS - 1n) / (BPS - SLIPPAGE_BPS);
  const written = Buffer.alloc(layout === 'head' ? 26 : 2 + 17 + 19);
  written.set(layout === 'head' ? HEAD_LAYOUT.discriminator : TAIL_LAYOUT.discriminator);
  if (layout === 'head') {
    written.writeUInt16LE(fee, 2);
    written.writeBigUInt64LE(amountIn, 8);
    written.writeBigUInt64LE(quoted, 16);
    written.writeUInt16LE(Number(SLIPPAGE_BPS), 24);
  } else {
    written.writeBigUInt64LE(amountIn, written.length - 19);
    written.writeBigUInt64LE(quoted, written.length - 11);
    written.writeUInt16LE(Number(SLIPPAGE_BPS), written.length - 3);
    written.writeUInt8(fee, written.length - 1);
  }
  return { programId, data: written, accounts: [...accounts.slice(0, 6), accounts[last]!, accounts[last + 1]!] };
}
