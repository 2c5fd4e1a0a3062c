import { hash, type KeyObject } from 'node:crypto';
import { parseDecimal } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { SignerCode } from './policy/codes.ts';
import { createPriceGuard, describePriceGuard, type PriceGuard } from './price/price-guard.ts';
import { createQuoteClient, type QuotedSwap } from './price/quote-client.ts';
import type { Cap, CapRefusal, CapRoom, CapsInForce, Spend } from './counters/caps.ts';
import { openSpendingCaps } from './counters/caps.ts';
import type { ChainReader } from './chain/chain-reader.ts';
import { createChainReader } from './chain/chain-reader.ts';
import { createJsonRpcOf } from './chain/json-rpc.ts';
import type { Policy } from './policy/policy.ts';
import { createPolicy, judgeClosing } from './policy/policy.ts';
import type { Expectation } from './policy/expectation.ts';
import { SIGNATURE_FEES_LAMPORTS, usualPlatformFeeBps } from './policy/expectation.ts';
import { USUAL_ALLOWANCES, type Allowances } from './allowances.ts';
import { NATIVE_MINT, SOL_DECIMALS, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from '../solana/constants.ts';
import { checkTransaction, type CheckedTransaction } from './policy/lookup-tables.ts';
import { verdictOf, type Summary, type Verdict } from './policy/verdict.ts';
import { warmUpPolicy } from './warm-up.ts';
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
  /** With the transaction as it was judged: what is signed. */
  | { readonly allowed: true; readonly transaction: CheckedTransaction }
  | {
    readonly allowed: false;
    readonly code: string;
    readonly message: string;
    readonly findings: readonly RefusalFinding[];
    /** Only for a refusal by a cap. */
    readonly room?: CapRoom | undefined;
  };

/** What a rehearsal learns of a transaction: what would be decided, and the signer's own reading. No signature. */
export interface Judgement {
  /** Undefined where it would be signed. */
  readonly refusal: (Authorisation & { readonly allowed: false }) | undefined;
  /** SHA-256 of the message, hex; undefined where the bytes could not be read. */
  readonly messageHash: string | undefined;
  /** Undefined where the bytes could not be read. */
  readonly summary: Summary | undefined;
}

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
  /** How far a swap may be below the signer's own quote, in words. */
  readonly priceGuard: string;
  /** The swaps in the counters when they were opened; undefined where the counters end with the process. */
  readonly signed?: { readonly inDay: number; readonly inMonth: number } | undefined;
  /** The folder of the counters; undefined where they end with the process. */
  readonly countersDir?: string | undefined;
  /** The time until which all caps of a day count as used, because counters were missing; undefined where not. */
  readonly capsFullUntil?: Millis | undefined;
  /** Whether the command line accepted missing or altered counters, so that caps start again at nothing. */
  readonly countersAccepted?: boolean | undefined;
}

/** A transaction that no rule refuses, with what the caps have to allow; or the refusal. */
type Examined = { readonly refusal: undefined; readonly checked: CheckedTransaction } & {
  readonly spend: Spend; readonly inForce: CapsInForce; readonly messageHash: string; readonly summary: Summary;
} | { readonly refusal: Authorisation & { readonly allowed: false } }
  & Partial<Pick<Judgement, 'messageHash' | 'summary'>>;

/** Decides alone what the key may sign; no request changes its rules. */
export interface Authoriser {
  readonly description: PolicyDescription;
  /**
   * Returns whether the bytes may be signed under these terms. An allowed request counts against the caps before this
   * returns. Never rejects for the content of a request.
   */
  authorise(transaction: Uint8Array, terms: SigningRequestTerms): Promise<Authorisation>;
  /**
   * Returns what `authorise` would decide, by the same rules, with nothing counted and nothing to sign. Never rejects
   * for the content of a request.
   */
  judge(transaction: Uint8Array, terms: SigningRequestTerms): Promise<Judgement>;
  /**
   * Asks for the price of a swap that will probably be signed soon, so that its signature does not wait for it. This
   * decides nothing, and is ignored for a swap without valid terms.
   */
  expect(swap: QuotedSwap): void;
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
    SignerSettings,
    'keyFrom' | 'embedded' | 'rpcUrl' | 'countersDir' | 'acceptNewCounters' | 'programs' | 'destinations' | 'caps'
    | 'tokens' | 'priceGuard'
  > & Partial<Pick<SignerSettings, 'allowances' | 'sellsUnnamed' | 'furtherRpcUrls'>>;
  /** The address of the key, base58. */
  readonly wallet: string;
  /** Derived from the wallet's key; it authenticates the counters. */
  readonly countersKey: KeyObject;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Whether it only judges: the counters are read and never written, and nothing is authorised. */
  readonly onlyJudges?: boolean | undefined;
  /**
   * The addresses of the embedded chain and service from the parent; used only where all is embedded, and only for this
   * machine.
   */
  readonly embeddedRpcUrl?: string | undefined;
  readonly embeddedServiceUrl?: string | undefined;
}

/** The limit of fees and tips on a real service where SOL has no cap: enough for some thousand swaps. */
const COST_PER_DAY_LAMPORTS = 100_000_000n;
const DAY_MS: Millis = 86_400_000;
/** Of the default tokens: a node that lies about decimals would turn a cap of 200 into one of 200 million. */
const DECIMALS: ReadonlyMap<string, number> = new Map([[NATIVE_MINT, SOL_DECIMALS], [USDC_MINT, 6]]);

/**
 * Returns the authoriser of a wallet's key: the policy over the bytes, with lookup tables and simulations of the
 * signer's own node, a price of its own, then the caps. Throws JOURNAL_INVALID or JOURNAL_FAILED where the counters
 * cannot be opened.
 */
export async function createAuthoriser({
  settings, wallet, countersKey, clock = wallClock, onlyJudges = false, embeddedRpcUrl, embeddedServiceUrl,
}: AuthoriserOptions): Promise<Authoriser> {
  const rpcUrl = settings.embedded ? loopbackOf(embeddedRpcUrl) : settings.rpcUrl;
  const chain = rpcUrl === undefined ? undefined : createChainReader(
    createJsonRpcOf([rpcUrl, ...(settings.embedded ? [] : settings.furtherRpcUrls ?? [])]),
  );
  const guard = openPriceGuard(settings, { clock, embeddedServiceUrl });
  const policy = createPolicy(settings.programs);
  const countersDir = isPlayMoney(settings) ? undefined : settings.countersDir;
  const caps = openSpendingCaps({
    folder: countersDir, wallet, clock, key: countersKey, acceptNew: settings.acceptNewCounters, onlyReads: onlyJudges,
  });
  /** Before the first count. The embedded chain is new at each start, so that it has no history to ask for. */
  const prove = async (): Promise<void> => {
    if (!caps.isUnproven || (chain === undefined && !settings.embedded)) return;
    caps.prove(settings.embedded ? 0 : await chain!.signedSince(wallet, clock.now() - DAY_MS));
  };
  await prove().catch((error: unknown) => {
    // The node is asked again before the first signature.
    if (!isGannetError(error)) throw error;
  });
  const signed = { inDay: caps.signedSince(clock.now() - DAY_MS), inMonth: caps.signedSince(0) };
  // An account of an unnamed token may never be closed again: its rent counts as spent.
  const named = new Set(settings.tokens.values());
  deriveKnownAccounts(policy, wallet, named);
  warmUpPolicy(policy, wallet);

  /** Applies every rule but the room in the caps, which `count` and `check` know. */
  async function examine(transaction: Uint8Array, terms: SigningRequestTerms): Promise<Examined> {
    const fault = faultOf(terms, { wallet, addresses: policy.addresses });
    if (fault !== undefined) return { refusal: refused('TERMS_INVALID', fault) };
    // A copy: the same bytes are read, simulated and counted, even if the caller changes its own.
    const checked = checkTransaction(new Uint8Array(transaction));
    if ('finding' in checked) return { refusal: denied(verdictOf([checked.finding], undefined)) };
    const hashed = messageHash(checked);
    let verdict: Verdict | undefined;
    const read = (): Pick<Judgement, 'messageHash' | 'summary'> =>
      ({ messageHash: hashed, summary: verdict?.summary });
    try {
      verdict = await judgeWithChain(checked, expectationOf(terms, wallet, settings.allowances), {
        policy, chain, receivers: [undefined, ...settings.destinations],
      });
      if (verdict.verdict === 'deny') return { refusal: denied(verdict), ...read() };
      const inForce = await capsInForce(terms, { settings, chain });
      if ('allowed' in inForce) return { refusal: inForce, ...read() };
      // The policy has proven both amounts as bounds: of what leaves, and of what arrives.
      const price = await guard.judge(terms);
      if (price !== undefined) return { refusal: refused(price.code, price.message), ...read() };
      await prove();
      const spend = {
        // The most that may leave, whatever the bytes state.
        messageHash: hashed, mint: terms.inputMint, amount: terms.amountIn,
        costLamports: costOf(verdict.summary!, { isRentLost: !named.has(terms.outputMint) }),
      };
      return { refusal: undefined, checked, spend, inForce, messageHash: hashed, summary: verdict.summary! };
    } catch (error) {
      if (!isGannetError(error)) throw error;
      return { refusal: refused('CHAIN_UNREAD', error.message), ...read() };
    }
  }

  return {
    description: {
      ...describe(settings, chain), signed: countersDir === undefined ? undefined : signed, countersDir,
      capsFullUntil: caps.fullUntil, countersAccepted: caps.isAccepted || undefined,
    },
    async authorise(transaction, terms) {
      if (onlyJudges) return ONLY_JUDGES;
      const found = await examine(transaction, terms);
      if (found.refusal !== undefined) return found.refusal;
      const counted = caps.count(found.spend, found.inForce);
      return counted.ok ? { allowed: true, transaction: found.checked } : refusedByCap(counted);
    },
    async judge(transaction, terms) {
      const found = await examine(transaction, terms);
      const { messageHash, summary } = found;
      if (found.refusal !== undefined) return { refusal: found.refusal, messageHash, summary };
      const counted = caps.check(found.spend, found.inForce);
      return { refusal: counted.ok ? undefined : refusedByCap(counted), messageHash, summary };
    },
    expect(swap) {
      if (swapFault(swap, policy.addresses) === undefined) guard.expect(swap);
    },
    async authoriseClosing(transaction) {
      if (onlyJudges) return ONLY_JUDGES;
      const checked = checkTransaction(new Uint8Array(transaction));
      if ('finding' in checked) return denied(verdictOf([checked.finding], undefined));
      const verdict = judgeClosing(checked, wallet, policy);
      if (verdict.verdict === 'deny') return denied(verdict);
      try {
        await prove();
        // It costs only its fee, but endless requests would add up.
        const counted = caps.count(
          { messageHash: messageHash(checked), mint: NATIVE_MINT, amount: 0n, costLamports: verdict.feeLamports },
          { input: undefined, ...costsInForce(settings) },
        );
        return counted.ok ? { allowed: true, transaction: checked } : refused(counted.code, counted.message);
      } catch (error) {
        if (!isGannetError(error)) throw error;
        return error.code.startsWith('CHAIN_') ? refused('CHAIN_UNREAD', error.message)
          : refused('CAP_DECIMALS_UNREAD', `signer.caps.SOL: ${error.message}`);
      }
    },
    close() {
      chain?.close();
      guard.close();
      caps.close();
    },
  };
}

function openPriceGuard(
  { embedded, priceGuard }: AuthoriserOptions['settings'],
  { clock, embeddedServiceUrl }: Required<Pick<AuthoriserOptions, 'clock' | 'embeddedServiceUrl'>>,
): PriceGuard {
  const serviceUrl = embedded ? loopbackOf(embeddedServiceUrl) : priceGuard.serviceUrl;
  return createPriceGuard({
    client: serviceUrl === undefined ? undefined : createQuoteClient({ ...priceGuard, serviceUrl }),
    clock: clock!, limits: priceGuard,
  });
}

function costOf({ costs }: Summary, { isRentLost }: { readonly isRentLost: boolean }): bigint {
  const feeLamports = costs.paidByWallet ? costs.feeLamports : 0n;
  return feeLamports + costs.tipLamports + costs.repaidLamports + (isRentLost ? costs.rentLamports : 0n);
}

function messageHash({ read }: CheckedTransaction): string {
  return hash('sha256', read.message);
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
  { maxTipLamports, maxPriorityFeeLamports, feeAccounts, maxFeeBps: mostFeeBps }: Allowances = USUAL_ALLOWANCES,
): Expectation {
  return {
    wallet, inputMint, outputMint, amountIn, minimumOut, maker, feePayer, route, maxTipLamports,
    maxFeeLamports: SIGNATURE_FEES_LAMPORTS + maxPriorityFeeLamports,
    maxPlatformFeeBps: Math.min(maxFeeBps, mostFeeBps, usualPlatformFeeBps({ route, wallet, feePayer })),
    ownFees: new Map([...feeAccounts].map(([account, bps]) => [account, Math.min(bps, maxFeeBps)])),
  };
}

/** The cache of the policy: reading base58 takes longer than most rules. */
type KnownAddresses = Pick<Policy['addresses'], 'bytesOf'>;

const NO_ADDRESSES = 'expected addresses, the base58 of 32 bytes';

/** Returns the fault of a swap that no transaction can make. */
function swapFault({ inputMint, outputMint, amountIn }: QuotedSwap, { bytesOf }: KnownAddresses): string | undefined {
  if (bytesOf(inputMint) === undefined || bytesOf(outputMint) === undefined) return NO_ADDRESSES;
  if (inputMint === outputMint) return 'expected two tokens, got one';
  return amountIn <= 0n ? `expected a positive input, got ${amountIn}` : undefined;
}

/** Returns the fault of terms that no transaction can meet. */
function faultOf(
  terms: SigningRequestTerms, { wallet, addresses }: { readonly wallet: string; readonly addresses: KnownAddresses },
): string | undefined {
  const { maker, feePayer, minimumOut, maxFeeBps } = terms;
  const fault = swapFault(terms, addresses);
  if (fault !== undefined) return fault;
  const others = [maker, feePayer].filter((address) => address !== undefined);
  if (others.some((address) => addresses.bytesOf(address) === undefined)) return NO_ADDRESSES;
  if (minimumOut <= 0n) return `expected a positive output, got ${minimumOut}`;
  if (maker === wallet) return 'expected another maker than the wallet itself';
  if (!Number.isInteger(maxFeeBps) || maxFeeBps < 0) return 'expected whole basis points as maxFeeBps';
  return undefined;
}

/** The caps on a swap of a mint, in smallest units, or the refusal where there is none. */
async function capsInForce(
  { inputMint: mint, outputMint }: Pick<SigningRequestTerms, 'inputMint' | 'outputMint'>,
  { settings, chain }: { readonly settings: AuthoriserOptions['settings']; readonly chain: ChainReader | undefined },
): Promise<CapsInForce | (Authorisation & { readonly allowed: false })> {
  const setting = settings.caps.find((cap) => cap.mint === mint);
  if (setting === undefined && !isPlayMoney(settings) && !isUnnamedSale(settings, { mint, outputMint }))
    return refused('CAP_MISSING', `${mint} has no cap: name it under "tokens" and give it one in signer.caps`);
  if (!isPlayMoney(settings) && setting !== undefined && setting.perHour === undefined
      && setting.perDay === undefined) {
    return refused(
      'CAP_MISSING', `signer.caps.${setting.name} limits each swap, but not their sum: add per_hour or per_day`,
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

/**
 * Returns whether a swap sells what the configuration allows to buy without a name, into a token with a cap: it brings
 * back what the caps let out. The price guard bounds what it may lose.
 */
function isUnnamedSale(
  { sellsUnnamed = false, tokens, caps }: AuthoriserOptions['settings'],
  { mint, outputMint }: { readonly mint: string; readonly outputMint: string },
): boolean {
  return sellsUnnamed && ![...tokens.values()].includes(mint) && caps.some((cap) => cap.mint === outputMint);
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
  { programs, caps, destinations, priceGuard }: AuthoriserOptions['settings'], chain: ChainReader | undefined,
): Omit<PolicyDescription, 'signed'> {
  return {
    programs: programs.length,
    caps: caps.map(({ name, perTrade, perHour, perDay }) =>
      `${name}: ${[[perTrade, 'a swap'], [perHour, 'an hour'], [perDay, 'a day']]
      .flatMap(([most, span]) => (most === undefined ? [] : [`${most} ${span!}`])).join(', ')}`),
    destinations,
    rpc: chain !== undefined,
    priceGuard: describePriceGuard(priceGuard),
  };
}

const ONLY_JUDGES = refused('ONLY_JUDGES', 'this signer was started for a rehearsal: it signs nothing');

function denied({ findings }: Verdict): Authorisation & { readonly allowed: false } {
  const [{ code, message }] = findings as readonly [RefusalFinding, ...RefusalFinding[]];
  return { allowed: false, code, message, findings };
}

function refusedByCap({ code, message, room }: CapRefusal): Authorisation & { readonly allowed: false } {
  return { ...refused(code, message), room };
}

function refused(code: SignerCode, message: string): Authorisation & { readonly allowed: false } {
  return { allowed: false, code, message, findings: [{ code, instruction: undefined, message }] };
}
