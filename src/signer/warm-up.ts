import bs58 from 'bs58';
import { writeUnsignedTransaction } from '../solana/transaction.ts';
import { CONSTANT_PRODUCT_PROGRAM } from './policy/swap-programs.ts';
import { USUAL_MAX_FEE_LAMPORTS } from './policy/expectation.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, NATIVE_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM, USDC_MINT,
} from '../solana/constants.ts';
import type { Policy } from './policy/policy.ts';
import type { Verdict } from './policy/verdict.ts';

const AMOUNT = 1_000n;
const [POOL, VAULT, OTHER_VAULT, TABLE] =
  [1, 2, 3, 4].map((byte) => bs58.encode(new Uint8Array(32).fill(byte))) as [string, string, string, string];
/** Enough for the engine to compile the common path. */
const TIMES = 3;

/**
 * Judges a made-up swap of the usual form, in versions 0 and 1, so that the first real request does not wait for the
 * engine to compile the policy. Nothing is signed or counted. Returns the last verdict of each version.
 */
export function warmUpPolicy(policy: Policy, wallet: string): readonly Verdict[] {
  const { associated } = policy.addresses;
  const [wrapped, usdc] =
    [NATIVE_MINT, USDC_MINT].map((mint) => associated(wallet, mint, TOKEN_PROGRAM)!) as [string, string];
  const written = [
    wallet, wrapped, usdc, SYSTEM_PROGRAM, TOKEN_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM,
    CONSTANT_PRODUCT_PROGRAM,
  ];
  const held = [POOL, VAULT, OTHER_VAULT, NATIVE_MINT, USDC_MINT];
  const accounts = [...written, ...held];
  const instruction = (program: string, data: Uint8Array, ...named: readonly string[]) => ({
    programIndex: accounts.indexOf(program), data,
    accountIndexes: Uint8Array.from(named, (account) => accounts.indexOf(account)),
  });
  const budget = [
    instruction(COMPUTE_BUDGET_PROGRAM, bytes([2, 1], [AMOUNT, 4])),
    instruction(COMPUTE_BUDGET_PROGRAM, bytes([3, 1], [AMOUNT, 8])),
  ];
  const swap = [
    instruction(
      ASSOCIATED_TOKEN_PROGRAM, bytes([1, 1]), wallet, wrapped, wallet, NATIVE_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM,
    ),
    instruction(SYSTEM_PROGRAM, bytes([2, 4], [AMOUNT, 8]), wallet, wrapped),
    instruction(TOKEN_PROGRAM, bytes([17, 1]), wrapped),
    instruction(CONSTANT_PRODUCT_PROGRAM, bytes([1, 1], [1, 1], [0, 6], [AMOUNT, 8], [AMOUNT, 8]),
      wallet, wrapped, usdc, CONSTANT_PRODUCT_PROGRAM, NATIVE_MINT, TOKEN_PROGRAM, USDC_MINT, TOKEN_PROGRAM, POOL,
      VAULT, OTHER_VAULT),
    instruction(TOKEN_PROGRAM, bytes([9, 1]), wrapped, wallet, wallet),
  ];
  const inTable = writeUnsignedTransaction({
    version: 0, header: { requiredSignatures: 1, readonlySigned: 0, readonlyUnsigned: written.length - 3 },
    accountKeys: written.map((address) => bs58.decode(address)), blockhash: new Uint8Array(32),
    instructions: [...budget, ...swap],
    lookups: [
      { table: bs58.decode(TABLE), writableIndexes: Uint8Array.of(0, 1, 2), readonlyIndexes: Uint8Array.of(3, 4) },
    ],
  });
  const inMessage = writeUnsignedTransaction({
    version: 1, header: { requiredSignatures: 1, readonlySigned: 0, readonlyUnsigned: accounts.length - 3 },
    accountKeys: accounts.map((address) => bs58.decode(address)), blockhash: new Uint8Array(32), instructions: swap,
    lookups: [], config: { priorityFeeLamports: AMOUNT, unitLimit: Number(AMOUNT), loadedBytes: Number(AMOUNT) },
  });
  const expectation = {
    wallet, inputMint: NATIVE_MINT, outputMint: USDC_MINT, amountIn: AMOUNT, minimumOut: AMOUNT,
    maxFeeLamports: USUAL_MAX_FEE_LAMPORTS, route: 'order',
  } as const;
  const knowledge = { tables: new Map([[TABLE, held]]) };
  for (let times = 1; times < TIMES; times++)
    for (const transaction of [inTable, inMessage]) policy.judge(transaction, expectation, knowledge);
  return [inTable, inMessage].map((transaction) => policy.judge(transaction, expectation, knowledge));
}

/** Little-endian whole numbers of the given lengths. */
function bytes(...fields: readonly (readonly [value: number | bigint, length: number])[]): Buffer {
  return Buffer.concat(fields.map(([value, length]) =>
    Buffer.from(BigInt(value).toString(16).padStart(2 * length, '0'), 'hex').reverse()));
}
