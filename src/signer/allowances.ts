import { parseDecimal } from '../core/amount.ts';
import { isAddress } from '../solana/addresses.ts';
import { SOL_DECIMALS } from '../solana/constants.ts';
import { MOST_TIP_LAMPORTS, USUAL_MAX_TIP_LAMPORTS } from './policy/expectation.ts';
import { inside, invalid, membersOf, textOf, wholeOf, type YamlPlace } from './yaml-reading.ts';

/** What a swap may cost besides its input, and who may get a part of it, by the signer's own reading. */
export interface Allowances {
  /** For all tips of one swap. */
  readonly maxTipLamports: bigint;
  /** For the priority of one swap, where the wallet pays it; signatures are counted beside it. */
  readonly maxPriorityFeeLamports: bigint;
  /** The accounts that a fee of the operator's own may go to, each with its largest share in basis points. */
  readonly feeAccounts: ReadonlyMap<string, number>;
  /** The share of a swap that all others may get, whatever a request says. */
  readonly maxFeeBps: number;
}

/** The usual limit of the section "risk". */
const USUAL_FEE_BPS = 30;
const MAX_BPS = 10_000;
/** What lands is told from what was paid on the way: these are far below what a reading of it allows for. */
const TIP = { usual: USUAL_MAX_TIP_LAMPORTS, least: 0n, most: MOST_TIP_LAMPORTS, mostText: '0.005 SOL' } as const;
const PRIORITY = { usual: 1_000_000n, least: 1n, most: 10_000_000n, mostText: '0.01 SOL' } as const;
const AMOUNT = /^(\d{1,9}(?:\.\d{1,9})?) SOL$/;

/** The allowances where nothing is configured. */
export const USUAL_ALLOWANCES: Allowances = {
  maxTipLamports: TIP.usual, maxPriorityFeeLamports: PRIORITY.usual, feeAccounts: new Map(), maxFeeBps: MAX_BPS,
};

/** Returns the allowances of the sections "signer" and "risk". Throws CONFIG_INVALID. */
export function readAllowances(signer: YamlPlace | undefined, risk: YamlPlace | undefined): Allowances {
  const fee = inside(risk, 'max_fee_bps');
  return {
    maxTipLamports: readSol(inside(signer, 'max_tip'), TIP),
    maxPriorityFeeLamports: readSol(inside(signer, 'max_priority_fee'), PRIORITY),
    feeAccounts: readFeeAccounts(inside(signer, 'fee_accounts')),
    maxFeeBps: fee === undefined ? USUAL_FEE_BPS : wholeOf(fee, { min: 0, max: MAX_BPS }),
  };
}

function readSol(
  place: YamlPlace | undefined, { usual, least, most, mostText }: {
    readonly usual: bigint; readonly least: bigint; readonly most: bigint; readonly mostText: string;
  },
): bigint {
  const text = textOf(place);
  if (place === undefined || text === undefined) return usual;
  const [, decimal] = AMOUNT.exec(text) ?? [];
  const found = decimal === undefined ? undefined : parseDecimal(decimal, SOL_DECIMALS);
  if (found === undefined || found < least || found > most)
    throw invalid(place, `expected an amount of SOL of at most "${mostText}", such as "0.0001 SOL"`);
  return found;
}

function readFeeAccounts(place: YamlPlace | undefined): ReadonlyMap<string, number> {
  return new Map(membersOf(place).map(([account, share]) => {
    if (!isAddress(account)) throw invalid(share, 'expected an address as key, the base58 of 32 bytes');
    return [account, wholeOf(share, { min: 1, max: MAX_BPS })];
  }));
}
