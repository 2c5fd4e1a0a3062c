import { associatedTokenAddress, NATIVE_MINT, TOKEN_PROGRAM } from '../chain/addresses.ts';
import type { GenesisToken } from '../genesis.ts';
import type { OrderCosts, OrderTransaction, Refusal, TakerRequest } from './built-order.ts';
import type { ServiceContext } from './context.ts';
import { automaticUnitPrice, distinguishing, priorityLamports, SIGNATURE_LAMPORTS, tokenAccountRent } from './fees.ts';
import {
  closeTokenAccount, computeUnitLimit, computeUnitPrice, createTokenAccount, syncNative, transferLamports,
  transferTokens, type Instruction,
} from './instructions.ts';
import { compileMessage } from './message.ts';
import type { FirmQuote } from './order-quote.ts';

const INSUFFICIENT_BALANCE = 1;
const ACCOUNT_MISSING = 2;
const NOT_BUILDABLE = 3;
const MAKER_UNITS = 120_000;

/**
 * Returns the transaction of a maker's quote. The maker pays fees and rent and signs in /execute. SOL that the taker
 * pays goes through a wrapped-SOL account, whose rent the taker lends himself; SOL that the maker pays goes as it is.
 */
export function firmTransaction(context: ServiceContext, request: TakerRequest, quote: FirmQuote): OrderTransaction {
  const { chain } = context;
  const { taker, amount } = request;
  const { input, output, firm } = quote;
  const { maker } = firm;
  const unitPrice = automaticUnitPrice({ slot: chain.slot });
  const units = MAKER_UNITS + distinguishing(context.nextNumber());
  const beneficiary = request.receiver ?? taker;
  const opensAccount = output.mint !== NATIVE_MINT && !chain.accountExists(accountOf(beneficiary, output));
  const instructions = [
    computeUnitLimit(units),
    computeUnitPrice(unitPrice),
    ...fromTaker(quote, { taker, amount }),
    ...fromMaker(quote, beneficiary),
  ];
  const { blockhash, lastValidBlockHeight } = chain.latestBlockhash();
  const message = compileMessage({ payer: maker, instructions, blockhash, table: context.table });
  const costs: OrderCosts = {
    payer: maker,
    signatureLamports: SIGNATURE_LAMPORTS * BigInt(message.signers.length),
    prioritizationLamports: priorityLamports({ unitPrice, units }),
    rentLamports: opensAccount ? tokenAccountRent(output.tokenProgram) : 0n,
  };
  const refusal = refusalOf(context, { taker, input, amount });
  return refusal === undefined ? { kind: 'built', message, costs, lastValidBlockHeight, cosigner: maker }
    : { kind: 'refused', ...refusal, costs };
}

function fromTaker({ input, firm }: FirmQuote, { taker, amount }: { taker: string; amount: bigint }): Instruction[] {
  const source = accountOf(taker, input);
  const transfer =
    transferTokens({ from: source, to: accountOf(firm.maker, input), owner: taker, token: input, amount });
  if (input.mint !== NATIVE_MINT) return [transfer];
  return [
    createTokenAccount({ payer: taker, owner: taker, mint: NATIVE_MINT, tokenProgram: TOKEN_PROGRAM }),
    transferLamports({ from: taker, to: source, lamports: amount }),
    syncNative({ account: source, tokenProgram: TOKEN_PROGRAM }),
    transfer,
    closeTokenAccount({ account: source, destination: taker, owner: taker, tokenProgram: TOKEN_PROGRAM }),
  ];
}

function fromMaker({ output, firm, outAmount, feeAmount, feeAccount }: FirmQuote, beneficiary: string): Instruction[] {
  const { maker } = firm;
  const pays = feeAccount !== undefined && feeAmount > 0n;
  if (output.mint === NATIVE_MINT) {
    return [
      transferLamports({ from: maker, to: beneficiary, lamports: outAmount }),
      ...(pays ? [
        transferLamports({ from: maker, to: feeAccount, lamports: feeAmount }),
        syncNative({ account: feeAccount, tokenProgram: TOKEN_PROGRAM }),
      ] : []),
    ];
  }
  const from = accountOf(maker, output);
  return [
    createTokenAccount({ payer: maker, owner: beneficiary, mint: output.mint, tokenProgram: output.tokenProgram }),
    transferTokens({ from, to: accountOf(beneficiary, output), owner: maker, token: output, amount: outAmount }),
    ...(pays ? [transferTokens({ from, to: feeAccount, owner: maker, token: output, amount: feeAmount })] : []),
  ];
}

function refusalOf(
  { chain }: ServiceContext, { taker, input, amount }: { taker: string; input: GenesisToken; amount: bigint },
): Refusal | undefined {
  const source = accountOf(taker, input);
  const isOpen = chain.accountExists(source);
  if (input.mint !== NATIVE_MINT) {
    if (!isOpen) return { code: ACCOUNT_MISSING, message: `Missing associated token account for ${input.mint}` };
    return chain.tokenBalance({ owner: taker, mint: input.mint }) < amount ? INSUFFICIENT : undefined;
  }
  const left = chain.balance(taker) - amount;
  if (left < 0n) return INSUFFICIENT;
  // Until the wrapped-SOL account is closed again its rent is missing; what is left then is no dust either.
  const canLendRent = isOpen || left >= tokenAccountRent(TOKEN_PROGRAM);
  return canLendRent ? undefined : { code: NOT_BUILDABLE, message: 'The quote could not be built into a transaction' };
}

const INSUFFICIENT: Refusal = { code: INSUFFICIENT_BALANCE, message: 'Insufficient balance' };

function accountOf(owner: string, { mint, tokenProgram }: GenesisToken): string {
  return associatedTokenAddress(owner, mint, tokenProgram);
}
