import { USUAL_MAX_FEE_LAMPORTS } from './expectation.ts';
import { decodeAll, type PolicyTools } from './policy.ts';
import { resolveTransaction } from './resolve.ts';
import { networkFee } from './rules/totals.ts';
import { verdictOf, type Finding, type Verdict } from './verdict.ts';

/** The word on a transaction that closes accounts, and what it costs the wallet where it is allowed. */
export interface ClosingVerdict extends Verdict {
  /** For signatures and priority; 0 where the bytes could not be read. */
  readonly feeLamports: bigint;
}

/**
 * Judges a transaction that is to do nothing but close token accounts of the wallet. The token programs themselves
 * refuse to close an account that still holds tokens; of wrapped SOL closing gives back what is in it. Accounts are
 * written out: no table can hide whose they are. Pure; never throws.
 */
export function judgeClosing(bytes: Uint8Array, wallet: string, tools: PolicyTools): ClosingVerdict {
  const resolved = resolveTransaction(bytes, { tables: new Map(), addresses: tools.addresses });
  if ('finding' in resolved) return { ...verdictOf([resolved.finding], undefined), feeLamports: 0n };
  const { transaction } = resolved;
  const findings: Finding[] = [];
  const deny = (code: Finding['code'], instruction: number | undefined, message: string): void => { findings.push({ code, instruction, message }); };

  if (transaction.signers[0] !== wallet) deny('FEE_PAYER_FOREIGN', undefined, `${transaction.signers[0]} pays the fee, expected ${wallet}`);
  const stranger = transaction.signers.find((signer) => signer !== wallet);
  if (stranger !== undefined) deny('SIGNER_UNKNOWN', undefined, `${stranger} is to sign too, whom nobody named`);

  const budget = new Map<string, bigint>();
  let closes = 0;
  decodeAll(transaction, tools).forEach((decoded, index) => {
    if (decoded.kind === 'budget') {
      if (budget.has(decoded.setting)) deny('BUDGET_INVALID', index, `sets the ${decoded.setting} a second time`);
      budget.set(decoded.setting, decoded.value);
    } else if (decoded.kind === 'close-token') {
      closes += 1;
      if (decoded.authority !== wallet) deny('CLOSE_FORBIDDEN', index, `${decoded.authority} closes ${decoded.account}, expected ${wallet}`);
      if (decoded.destination !== wallet) deny('CLOSE_DESTINATION', index, `what ${decoded.account} sets free goes to ${decoded.destination}, expected ${wallet}`);
    } else if (decoded.kind === 'refused') deny(decoded.code, index, decoded.what);
    else deny('CLOSING_ONLY', index, `does more than close accounts: ${decoded.kind}`);
  });
  if (closes === 0) deny('CLOSING_ONLY', undefined, 'closes nothing');
  const { feeLamports } = networkFee(transaction, budget);
  if (feeLamports > USUAL_MAX_FEE_LAMPORTS) deny('FEE_EXCEEDS', undefined, `${feeLamports} lamports for signatures and priority, expected at most ${USUAL_MAX_FEE_LAMPORTS} lamports`);
  return { ...verdictOf(findings, undefined), feeLamports };
}
