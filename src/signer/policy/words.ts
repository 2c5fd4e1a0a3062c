import { formatDecimal } from '../../core/amount.ts';
import { printable } from '../../core/text.ts';
import type { Decoded } from './decode/decoded.ts';
import { NATIVE_MINT } from './known-programs.ts';

const SOL_DECIMALS = 9;
const LONGEST_MEMO = 80;

/** Returns what an instruction does, in words; the wallet's own address is called "the wallet". */
export function inWords(decoded: Decoded, wallet: string): string {
  const who = (address: string): string => (address === wallet ? 'the wallet' : address);
  switch (decoded.kind) {
    case 'budget': return budgetText(decoded);
    case 'transfer-lamports': return `pays ${sol(decoded.lamports)} from ${who(decoded.from)} to ${who(decoded.to)}`;
    case 'open-seeded': return `makes the temporary account ${decoded.account} of ${who(decoded.base)}, lent ${sol(decoded.lamports)} by ${who(decoded.payer)}`;
    case 'transfer-tokens': {
      const { amount, decimals, mint, source, destination, authority } = decoded;
      const what = mint === undefined ? `${amount} units` : tokens(decimals === undefined ? `${amount} units` : formatDecimal(amount, decimals), mint);
      return `moves ${what} from ${source} to ${destination}, by ${who(authority)}`;
    }
    case 'close-token': return `closes the token account ${decoded.account}, what it held of SOL to ${who(decoded.destination)}`;
    case 'sync-native': return `counts the SOL in ${decoded.account} as wrapped`;
    case 'initialize-token': return `starts ${decoded.account} as a token account of ${who(decoded.owner)} for ${mintText(decoded.mint)}`;
    case 'open-associated': return `opens the token account ${decoded.account} of ${who(decoded.owner)} for ${mintText(decoded.mint)} unless it is there, paid by ${who(decoded.payer)}`;
    case 'memo': return `says "${printable(decoded.text, LONGEST_MEMO)}"`;
    case 'swap': {
      const { amountIn, minimumOut, inputMint, source, outputMint, destination, platformFeeBps, user } = decoded;
      const fee = platformFeeBps === 0 ? '' : `, ${platformFeeBps} bps of it to ${decoded.feeAccount ?? 'whom it does not say'}`;
      const input = inputMint === undefined ? `what is in ${source}` : mintText(inputMint);
      return `swaps ${amountIn} units of ${input} of ${who(user)} to at least ${minimumOut} units of ${mintText(outputMint)} in ${destination}${fee}`;
    }
    case 'opaque': return 'does what nobody here can read';
    case 'refused': return decoded.what;
  }
}

/** Returns lamports as SOL. */
export function sol(lamports: bigint): string {
  return `${formatDecimal(lamports, SOL_DECIMALS)} SOL`;
}

function budgetText({ setting, value }: Extract<Decoded, { kind: 'budget' }>): string {
  switch (setting) {
    case 'unit limit': return `asks for at most ${value} compute units`;
    case 'unit price': return `offers ${value} micro-lamports a compute unit`;
    case 'heap bytes': return `asks for ${value} bytes of memory`;
    case 'loaded bytes': return `asks for at most ${value} bytes of accounts`;
  }
}

function tokens(amount: string, mint: string): string {
  return mint === NATIVE_MINT ? `${amount} wrapped SOL` : `${amount} of ${mint}`;
}

function mintText(mint: string): string {
  return mint === NATIVE_MINT ? 'wrapped SOL' : mint;
}
