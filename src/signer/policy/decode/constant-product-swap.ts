import { isTokenProgram } from '../known-programs.ts';
import type { ResolvedInstruction } from '../resolve.ts';
import type { SwapTerms } from './decoded.ts';

/** The embedded chain's swap program; its instruction is described beside the program itself. */
export const CONSTANT_PRODUCT_PROGRAM = 'GannetSwap111111111111111111111111111111111';

const SWAP_TAG = 1;
const DATA_BYTES = 24;
const MAX_HOPS = 4;
const MAX_BPS = 10_000;

/** Returns the terms of a swap of 1 to 4 hops; undefined where the program itself would refuse the form. */
export function constantProductSwap({ accounts, data }: ResolvedInstruction): SwapTerms | undefined {
  if (data.length !== DATA_BYTES) return undefined;
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const hops = view.readUInt8(1);
  const platformFeeBps = view.readUInt16LE(2);
  const hasForm = view.readUInt8(0) === SWAP_TAG && hops >= 1 && hops <= MAX_HOPS && platformFeeBps <= MAX_BPS && view.readUInt32LE(4) === 0;
  if (!hasForm || accounts.length !== 6 + 5 * hops) return undefined;
  const [user, source, destination, feeAccount] = accounts as readonly [string, string, string, string];
  const mints = Array.from({ length: hops + 1 }, (_, i) => ({ mint: accounts[4 + 2 * i]!, program: accounts[5 + 2 * i]! }));
  if (!mints.every(({ program }) => isTokenProgram(program))) return undefined;
  const [first, last] = [mints[0]!, mints.at(-1)!];
  return {
    user, source, destination,
    inputMint: first.mint, inputProgram: first.program, outputMint: last.mint, outputProgram: last.program,
    amountIn: view.readBigUInt64LE(8),
    minimumOut: view.readBigUInt64LE(16),
    platformFeeBps,
    feeAccount: platformFeeBps === 0 ? undefined : feeAccount,
    unproven: undefined,
  };
}
