import { NATIVE_MINT, seededAddress, TOKEN_PROGRAM } from '../chain/addresses.ts';
import { TOKEN_ACCOUNT_BYTES } from '../chain/token-layout.ts';
import { tokenAccountRent } from './fees.ts';
import {
  closeTokenAccount, createSeededAccount, initializeTokenAccount, transferTokens, type Instruction,
} from './instructions.ts';

/** How a swap's SOL reaches another account as lamports. */
export interface NativeDelivery {
  /** The wrapped-SOL account that the swap must pay into. */
  readonly account: string;
  readonly setup: readonly Instruction[];
  /** After the swap, in this order. */
  readonly cleanup: readonly Instruction[];
  /** What `payer` lends; the taker has it at the end. */
  readonly lentLamports: bigint;
}

const WRAPPED_SOL = { mint: NATIVE_MINT, decimals: 9, tokenProgram: TOKEN_PROGRAM } as const;

/** The least that can be delivered: closing an account hands out its rent, of which nobody's share may be missing. */
export const LEAST_NATIVE_LAMPORTS = tokenAccountRent(TOKEN_PROGRAM);

/**
 * Returns the instructions that hand `destination` exactly what the swap pays, whatever that will be. Only the closing
 * of an account moves an amount that nobody knows beforehand, and it moves the account's rent along. So as much is
 * taken out before, into a second account that is closed to the taker. No account of the taker's own is touched.
 */
export function nativeDelivery(
  options: { taker: string; payer: string; destination: string; seed: string },
): NativeDelivery {
  const { taker, payer } = options;
  const paidInto = temporaryAccount({ taker, payer, seed: `${options.seed}a` });
  const rentBack = temporaryAccount({ taker, payer, seed: `${options.seed}b` });
  return {
    account: paidInto.account,
    setup: [...paidInto.setup, ...rentBack.setup],
    cleanup: [
      transferTokens({
        from: paidInto.account, to: rentBack.account, owner: taker, token: WRAPPED_SOL, amount: LEAST_NATIVE_LAMPORTS,
      }),
      closeTokenAccount({
        account: paidInto.account, destination: options.destination, owner: taker, tokenProgram: TOKEN_PROGRAM,
      }),
      closeTokenAccount({ account: rentBack.account, destination: taker, owner: taker, tokenProgram: TOKEN_PROGRAM }),
    ],
    lentLamports: 2n * LEAST_NATIVE_LAMPORTS,
  };
}

function temporaryAccount(
  { taker, payer, seed }: { taker: string; payer: string; seed: string },
): { account: string; setup: Instruction[] } {
  const account = seededAddress(taker, seed, TOKEN_PROGRAM);
  return {
    account,
    setup: [
      createSeededAccount({
        payer, base: taker, seed, account, lamports: LEAST_NATIVE_LAMPORTS, bytes: TOKEN_ACCOUNT_BYTES,
        owner: TOKEN_PROGRAM,
      }),
      initializeTokenAccount({ account, owner: taker, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM }),
    ],
  };
}
