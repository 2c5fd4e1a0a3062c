import { hash } from 'node:crypto';
import { parseDecimal } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { SignerCode } from './policy/codes.ts';
import type { Cap, CapRoom, CapsInForce } from './caps.ts';
import { openSpendingCaps } from './caps.ts';
import type { ChainReader } from './chain-reader.ts';
import { createChainReader } from './chain-reader.ts';
import { createJsonRpc } from './json-rpc.ts';
import { isAddress } from '../solana/addresses.ts';
import type { Policy } from './policy/policy.ts';
import { createPolicy, judgeClosing } from './policy/policy.ts';
import type { Expectation } from './policy/expectation.ts';
import { USUAL_MAX_FEE_LAMPORTS, usualPlatformFeeBps } from './policy/expectation.ts';
import { NATIVE_MINT, SOL_DECIMALS, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from '../solana/constants.ts';
import type { Summary, Verdict } from './policy/verdict.ts';
import { warmUpPolicy } from './warm-up.ts';
import { readTransaction } from '../solana/transaction.ts';
import type { CapSetting, SignerSettings } from './settings.ts';
import { judgeWithChain } from './policy-check.ts';

/** The wall clock, for periods of hours; the caps allow for a clock that is set back. */
const wallClock: Pick<Clock, 'now'> = { now: () => Date.now() };

/** The terms in a request that its transaction must meet. All addresses in base58. */
export interface SigningRequestTerms
    extends Pick<Expectation, 'route' | 'inputMint' | 'outputMint' | 'amountIn' | 'minimumOut' | 'maker' | 'feePayer'> {
  readonly intentId: string;
  /** From 1. */
  readonly attempt: number;
  /** The share of the swap that third parties may get. */
  readonly maxFeeBps: number;
}

/** One broken rule, as the caller sees it. */
export interface RefusalFinding {
  readonly code: string;
  /** The index of the instruction that breaks it; undefined where it is the transaction as a whole. */
  readonly instruction: number | undefined;
  readonly message: string;
}

/** The decision on one request. */
export type Authorisation =
  | { readonly allowed: true }
  | {
    readonly allowed: false;
    readonly code: string;
    readonly message: string;
    readonly findings: readonly RefusalFinding[];
    /** Only for a refusal by a cap. */
    readonly room?: CapRoom | undefined;
  };

/** A summary of the signer's rules, which a run prints at its start. */
export interface PolicyDescription {
  /** How many swap programs may be called. */
  readonly programs: number;
  /** In words, one for each token, "USDC: 200 a swap, 1000 a day". */
  readonly caps: readonly string[];
  /** May receive besides the wallet itself. */
  readonly destinations: readonly string[];
  /** Whether the signer has a node of its own for lookup tables and simulations. */
  readonly rpc: boolean;
  /** The swaps in the counters when they were opened; undefined where the counters end with the process. */
  readonly signed?: { readonly inDay: number; readonly inMonth: number } | undefined;
}

/** Decides alone what the key may sign; no request changes its rules. */
export interface Authoriser {
  readonly description: PolicyDescription;
  /**
   * Returns whether the bytes may be signed under these terms. An allowed request counts against the caps before this
   * returns. Never rejects for the content of a request.
   */
  authorise(transaction: Uint8Array, terms: SigningRequestTerms): Promise<Authorisation>;
  /**
   * Returns whether the bytes do nothing but close token accounts of the wallet to the wallet. The fee of an allowed
   * request counts against the caps before this returns. Never rejects for the content of a request.
   */
  authoriseClosing(transaction: Uint8Array): Promise<Authorisation>;
  close(): void | Promise<void>;
}

/** The basis of the signer's decisions: its own settings, which no request can change. */
interface AuthoriserOptions {
  readonly settings: Pick<
    SignerSettings, 'keyFrom' | 'embedded' | 'rpcUrl' | 'stateDir' | 'programs' | 'destinations' | 'caps' | 'tokens'
  >;
  /** The address of the key, base58. */
  readonly wallet: string;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** The address of the embedded chain from the parent; used only where all is embedded, and only for this machine. */
  readonly embeddedRpcUrl?: string | undefined;
}

/** The limit of fees and tips on a real service where SOL has no cap: enough for some thousand swaps. */
const COST_PER_DAY_LAMPORTS = 100_000_000n;
const DAY_MS: Millis = 86_400_000;
/** Of the default tokens: a node that lies about decimals would turn a cap of 200 into one of 200 million. */
const DECIMALS: ReadonlyMap<string, number> = new Map([[NATIVE_MINT, SOL_DECIMALS], [USDC_MINT, 6]]);

/**
 * Returns the authoriser of a wallet's key: the policy over the bytes, with lookup tables and simulations of the
 * signer's own node, then the caps. Throws JOURNAL_INVALID or JOURNAL_FAILED where the counters cannot be opened.
 */
export function createAuthoriser(options: AuthoriserOptions): Promise<Authoriser> {
  // Faults of the counters reject the promise too.
  return Promise.resolve().then(() => openAuthoriser(options));
}

function openAuthoriser({ settings, wallet, clock = wallClock, embeddedRpcUrl }: AuthoriserOptions): Authoriser {
  const rpcUrl = settings.embedded ? loopbackOf(embeddedRpcUrl) : settings.rpcUrl;
  const chain = rpcUrl === undefined ? undefined : createChainReader(createJsonRpc(rpcUrl));
  const policy = createPolicy(settings.programs);
  const caps = openSpendingCaps({ stateDir: isPlayMoney(settings) ? undefined : settings.stateDir, wallet, clock });
  const signed = { inDay: caps.signedSince(clock.now() - DAY_MS), inMonth: caps.signedSince(0) };
  // An account of an unnamed token may never be closed again: its rent counts as spent.
  const named = new Set(settings.tokens.values());
  deriveKnownAccounts(policy, wallet, named);
  warmUpPolicy(policy, wallet);

  return {
    description: { ...describe(settings, chain), signed: isPlayMoney(settings) ? undefined : signed },
    async authorise(transaction, terms) {
      const fault = faultOf(terms, wallet);
      if (fault !== undefined) return refused('TERMS_INVALID', fault);
      // A copy: the same bytes are read, simulated and counted, even if the caller changes its own.
      const bytes = new Uint8Array(transaction);
      try {
        const verdict = await judgeWithChain(bytes, expectationOf(terms, wallet), {
          policy, chain, receivers: [undefined, ...settings.destinations],
        });
        if (verdict.verdict === 'deny') return denied(verdict);
        const inForce = await capsInForce(terms.inputMint, { settings, chain });
        if ('allowed' in inForce) return inForce;
        const counted = caps.count({
          messageHash: messageHash(bytes),
          // The most that may leave, whatever the bytes state.
          mint: terms.inputMint, amount: terms.amountIn,
          costLamports: costOf(verdict.summary!, { isRentLost: !named.has(terms.outputMint) }),
        }, inForce);
        return counted.ok ? { allowed: true } : { ...refused(counted.code, counted.message), room: counted.room };
      } catch (error) {
        if (!isGannetError(error)) throw error;
        return refused('CHAIN_UNREAD', error.message);
      }
    },
    async authoriseClosing(transaction) {
      const bytes = new Uint8Array(transaction);
      const verdict = judgeClosing(bytes, wallet, policy);
      if (verdict.verdict === 'deny') return denied(verdict);
      try {
        // It costs only its fee, but endless requests would add up.
        const counted = caps.count(
          { messageHash: messageHash(bytes), mint: NATIVE_MINT, amount: 0n, costLamports: verdict.feeLamports },
          { input: undefined, ...costsInForce(settings) },
        );
        return counted.ok ? { allowed: true } : refused(counted.code, counted.message);
      } catch (error) {
        if (!isGannetError(error)) throw error;
        return refused('CAP_DECIMALS_UNREAD', `signer.caps.SOL: ${error.message}`);
      }
    },
    close() {
      chain?.close();
      caps.close();
    },
  };
}

function costOf({ costs }: Summary, { isRentLost }: { readonly isRentLost: boolean }): bigint {
  const feeLamports = costs.paidByWallet ? costs.feeLamports : 0n;
  return feeLamports + costs.tipLamports + costs.repaidLamports + (isRentLost ? costs.rentLamports : 0n);
}

function messageHash(bytes: Uint8Array): string {
  return hash('sha256', readTransaction(bytes).message);
}

/**
 * Whether nothing can be lost: the embedded chain's own wallet. Any other key may have value on another chain, where
 * its signatures are valid too.
 */
function isPlayMoney({ embedded, keyFrom }: Pick<SignerSettings, 'embedded' | 'keyFrom'>): boolean {
  return embedded && keyFrom === undefined;
}

function loopbackOf(text: string | undefined): string | undefined {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) ? text : undefined;
}

function expectationOf(
  { inputMint, outputMint, amountIn, minimumOut, maker, feePayer, route, maxFeeBps }: SigningRequestTerms,
  wallet: string,
): Expectation {
  return {
    wallet, inputMint, outputMint, amountIn, minimumOut, maker, feePayer, route,
    maxFeeLamports: USUAL_MAX_FEE_LAMPORTS,
    maxPlatformFeeBps: Math.min(maxFeeBps, usualPlatformFeeBps({ route, wallet, feePayer })),
  };
}

/** Returns the fault of terms that no transaction can meet. */
function faultOf(
  { inputMint, outputMint, amountIn, minimumOut, maker, feePayer, maxFeeBps }: SigningRequestTerms, wallet: string,
): string | undefined {
  const addresses = [inputMint, outputMint, maker, feePayer].filter((address) => address !== undefined);
  if (!addresses.every(isAddress)) return 'expected addresses, the base58 of 32 bytes';
  if (inputMint === outputMint) return 'expected two tokens, got one';
  if (amountIn <= 0n || minimumOut <= 0n) return `expected positive amounts, got ${amountIn} and ${minimumOut}`;
  if (maker === wallet) return 'expected another maker than the wallet itself';
  if (!Number.isInteger(maxFeeBps) || maxFeeBps < 0) return 'expected whole basis points as maxFeeBps';
  return undefined;
}

/** The caps on a swap of a mint, in smallest units, or the refusal where there is none. */
async function capsInForce(
  mint: string,
  { settings, chain }: { readonly settings: AuthoriserOptions['settings']; readonly chain: ChainReader | undefined },
): Promise<CapsInForce | (Authorisation & { readonly allowed: false })> {
  const setting = settings.caps.find((cap) => cap.mint === mint);
  if (setting === undefined && !isPlayMoney(settings))
    return refused('CAP_MISSING', `${mint} has no cap: name it under "tokens" and give it one in signer.caps`);
  if (!isPlayMoney(settings) && setting?.perHour === undefined && setting?.perDay === undefined) {
    return refused(
      'CAP_MISSING', `signer.caps.${setting!.name} limits each swap, but not their sum: add per_hour or per_day`,
    );
  }
  const costs = costsInForce(settings);
  if (setting === undefined) return { input: undefined, ...costs };
  const decimals = DECIMALS.get(mint) ?? await chain?.decimalsOf(mint);
  if (decimals === undefined) return refused('CAP_DECIMALS_UNREAD', `the decimals of ${setting.name} (${mint}) have `
    + `not been read: ${chain === undefined ? 'there is no node to ask' : 'the node knows no such mint'}`);
  try {
    return { input: inUnits(setting, decimals), ...costs };
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return refused('CAP_DECIMALS_UNREAD', `signer.caps.${setting.name}: ${error.message}`);
  }
}

/** The limits on fees and tips of a day. */
function costsInForce(settings: AuthoriserOptions['settings']): Pick<CapsInForce, 'solPerDay' | 'costPerDay'> {
  const sol = settings.caps.find((cap) => cap.mint === NATIVE_MINT);
  const solPerDay = sol?.perDay === undefined ? undefined : parseDecimal(sol.perDay, SOL_DECIMALS);
  return {
    solPerDay, costPerDay: solPerDay !== undefined || isPlayMoney(settings) ? undefined : COST_PER_DAY_LAMPORTS,
  };
}

function inUnits({ name, perTrade, perHour, perDay }: CapSetting, decimals: number): Cap {
  const units = (text: string | undefined): bigint | undefined =>
    (text === undefined ? undefined : parseDecimal(text, decimals));
  return { name, decimals, perTrade: units(perTrade), perHour: units(perHour), perDay: units(perDay) };
}

/** Deriving an account costs more than the rest of a judgement, so the common ones are derived in advance. */
function deriveKnownAccounts({ addresses }: Policy, wallet: string, mints: Iterable<string>): void {
  for (const mint of mints) {
    for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) addresses.associated(wallet, mint, program);
  }
}

function describe(
  { programs, caps, destinations }: AuthoriserOptions['settings'], chain: ChainReader | undefined,
): Omit<PolicyDescription, 'signed'> {
  return {
    programs: programs.length,
    caps: caps.map(({ name, perTrade, perHour, perDay }) =>
      `${name}: ${[[perTrade, 'a swap'], [perHour, 'an hour'], [perDay, 'a day']]
      .flatMap(([most, span]) => (most === undefined ? [] : [`${most} ${span!}`])).join(', ')}`),
    destinations,
    rpc: chain !== undefined,
  };
}

function denied({ findings }: Verdict): Authorisation {
  const [{ code, message }] = findings as readonly [RefusalFinding, ...RefusalFinding[]];
  return { allowed: false, code, message, findings };
}

function refused(code: SignerCode, message: string): Authorisation & { readonly allowed: false } {
  return { allowed: false, code, message, findings: [{ code, instruction: undefined, message }] };
}
