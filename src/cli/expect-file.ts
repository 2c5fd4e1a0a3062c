import { readFile } from 'node:fs/promises';
import bs58 from 'bs58';
import { z } from 'zod';
import { GannetError, messageOf } from '../core/errors.ts';
import { printable } from '../core/text.ts';
import { USUAL_MAX_FEE_LAMPORTS, type Expectation } from '../signer/policy/expectation.ts';

const U64_MAX = 2n ** 64n - 1n;
const WHOLE_NUMBER = 'expected a whole number in smallest units, as a string';

const address = z.string().refine(isAddress, { message: 'expected an address, the base58 of 32 bytes' });
/** A string, as amounts are everywhere; whole numbers that a double counts exactly are let in too. */
const amount = z.union([z.string(), z.int().min(0)], { error: WHOLE_NUMBER })
  .refine((value) => /^\d{1,20}$/.test(String(value)), { error: WHOLE_NUMBER, abort: true })
  .transform(BigInt).refine((value) => value <= U64_MAX, { message: `expected at most ${U64_MAX}` });

const expectFile = z.strictObject({
  input_mint: address,
  output_mint: address,
  amount_in: amount,
  minimum_out: amount,
  maker: address.optional(),
  fee_payer: address.optional(),
  receiver: address.optional(),
  max_fee_lamports: amount.optional(),
  max_tip_lamports: amount.optional(),
  tip_accounts: z.array(address).optional(),
  max_platform_fee_bps: z.int().min(0).max(10_000).optional(),
  fee_accounts: z.array(address).optional(),
  route: z.enum(['order', 'build']).default('order'),
});

/** Returns whether a text is the base58 of 32 bytes. */
export function isAddress(text: string): boolean {
  return text.length <= 44 && bs58.decodeUnsafe(text)?.length === 32;
}

/** Returns what the file of `--expect` expects of a transaction of `wallet`. Throws USAGE where it cannot be read or makes no sense. */
export async function readExpectFile(path: string, wallet: string): Promise<Expectation> {
  const parsed = expectFile.safeParse(await readDocument(path));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw usage(path, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not the expected form'}`.replace(/^: /, ''));
  }
  const file = parsed.data;
  if (file.input_mint === file.output_mint) throw usage(path, 'output_mint: expected another mint than input_mint');
  return {
    wallet,
    inputMint: file.input_mint,
    outputMint: file.output_mint,
    amountIn: file.amount_in,
    minimumOut: file.minimum_out,
    maker: file.maker,
    feePayer: file.fee_payer,
    receiver: file.receiver,
    maxFeeLamports: file.max_fee_lamports ?? USUAL_MAX_FEE_LAMPORTS,
    maxTipLamports: file.max_tip_lamports,
    tipAccounts: file.tip_accounts,
    maxPlatformFeeBps: file.max_platform_fee_bps,
    feeAccounts: file.fee_accounts,
    route: file.route,
  };
}

async function readDocument(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch (cause) {
    throw usage(path, `expected a JSON document, ${messageOf(cause)}`);
  }
}

function usage(path: string, what: string): GannetError {
  return new GannetError('USAGE', `--expect ${printable(path)}: ${printable(what, 300)}`);
}
