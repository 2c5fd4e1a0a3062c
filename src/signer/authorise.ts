import { hash } from 'node:crypto';
import { parseDecimal } from '../core/amount.ts';
import { isGannetError } from '../core/errors.ts';
import type { Clock, Millis } from '../core/time.ts';
import type { SignerCode } from './authorisation-codes.ts';
import type { Authorisation, Authoriser, PolicyDescription, RefusalFinding, SigningRequestTerms } from './authoriser.ts';
import type { Cap, CapsInForce } from './caps.ts';
import { openSpendingCaps } from './caps.ts';
import { createChainReader, type ChainReader } from './chain-reader.ts';
import { createJsonRpc } from './json-rpc.ts';
import { isAddress } from './policy/addresses.ts';
import { judgeClosing } from './policy/closing.ts';
import { USUAL_MAX_FEE_LAMPORTS, usualPlatformFeeBps, type Expectation } from './policy/expectation.ts';
import { NATIVE_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from './policy/known-programs.ts';
import { createPolicy, type Policy } from './policy/policy.ts';
import type { Verdict } from './policy/verdict.ts';
import { rehearse } from './rehearse.ts';
import { readTransaction } from './transaction-reader.ts';
import type { CapSetting, SignerSettings } from './settings.ts';
import { judgeWithChain } from './judge.ts';
import { wallClock } from './wall-clock.ts';

/** What the signer decides by: its own settings, and nothing that whoever asks can change. */
export interface AuthoriserOptions {
  readonly settings: Pick<SignerSettings, 'keyFrom' | 'embedded' | 'rpcUrl' | 'stateDir' | 'programs' | 'destinations' | 'caps' | 'tokens'>;
  /** Whose key it is, base58. */
  readonly wallet: string;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Where the embedded chain listens, as the parent says: believed only where nothing is worth anything, and only of this machine. */
  readonly embeddedRpcUrl?: string | undefined;
}

/** What swaps may cost on a real service in fees and tips where SOL has no cap of its own: some thousand of them. */
const COST_PER_DAY_LAMPORTS = 100_000_000n;
const SOL_DECIMALS = 9;
const DAY_MS: Millis = 86_400_000;
/** Of what is always named: a node that lies about decimals would make a cap of 200 one of 200 millions. */
const DECIMALS: ReadonlyMap<string, number> = new Map([[NATIVE_MINT, SOL_DECIMALS], [USDC_MINT, 6]]);

/**
 * Returns what decides over a wallet's key: the policy over the bytes, by lookup tables and simulations of the signer's
 * own node, then the caps. Throws JOURNAL_INVALID or JOURNAL_FAILED where the counters cannot be opened.
 */
export function createAuthoriser(options: AuthoriserOptions): Promise<Authoriser> {
  // A promise for the counters' faults too: whoever opens a wallet waits for everything.
  return Promise.resolve().then(() => openAuthoriser(options));
}

function openAuthoriser({ settings, wallet, clock = wallClock, embeddedRpcUrl }: AuthoriserOptions): Authoriser {
  const rpcUrl = settings.embedded ? loopbackOf(embeddedRpcUrl) : settings.rpcUrl;
  const chain = rpcUrl === undefined ? undefined : createChainReader(createJsonRpc(rpcUrl));
  const policy = createPolicy(settings.programs);
  const caps = openSpendingCaps({ stateDir: isPlayMoney(settings) ? undefined : settings.stateDir, wallet, clock });
  const signed = { inDay: caps.signedSince(clock.now() - DAY_MS), inMonth: caps.signedSince(0) };
  // Of a token that nobody named the account may never be closed again: its rent counts as gone.
  const named = new Set(settings.tokens.values());
  deriveKnownAccounts(policy, wallet, named);
  rehearse(policy, wallet);

  return {
    description: { ...describe(settings, chain), signed: isPlayMoney(settings) ? undefined : signed },
    async authorise(transaction, terms) {
      const fault = faultOf(terms, wallet);
      if (fault !== undefined) return refused('TERMS_INVALID', fault);
      // Whatever the caller does with his bytes, what is read, simulated and counted is one and the same.
      const bytes = new Uint8Array(transaction);
      try {
        const verdict = await judgeWithChain(bytes, expectationOf(terms, wallet), { policy, chain, receivers: [undefined, ...settings.destinations] });
        if (verdict.verdict === 'deny') return denied(verdict);
        const inForce = await capsInForce(terms.inputMint, { settings, chain });
        if ('allowed' in inForce) return inForce;
        const { costs } = verdict.summary!;
        const counted = caps.count({
          messageHash: messageHash(bytes),
          // All that may leave, whatever the bytes make of it.
          mint: terms.inputMint, amount: terms.amountIn,
          costLamports: (costs.paidByWallet ? costs.feeLamports : 0n) + costs.tipLamports + costs.repaidLamports + (named.has(terms.outputMint) ? 0n : costs.rentLamports),
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
        // It gives nothing away but its fee: that one an asker without end could make a fortune of.
        const counted = caps.count({ messageHash: messageHash(bytes), mint: NATIVE_MINT, amount: 0n, costLamports: verdict.feeLamports }, { input: undefined, ...costsInForce(settings) });
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

function messageHash(bytes: Uint8Array): string {
  return hash('sha256', readTransaction(bytes).message);
}

/** Whether nothing can be lost: the embedded chain's own wallet. A key of somebody's own may be worth something on another chain, for which signatures hold as well. */
function isPlayMoney({ embedded, keyFrom }: Pick<SignerSettings, 'embedded' | 'keyFrom'>): boolean {
  return embedded && keyFrom === undefined;
}

function loopbackOf(text: string | undefined): string | undefined {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) ? text : undefined;
}

function expectationOf({ inputMint, outputMint, amountIn, minimumOut, maker, feePayer, route, maxFeeBps }: SigningRequestTerms, wallet: string): Expectation {
  return {
    wallet, inputMint, outputMint, amountIn, minimumOut, maker, feePayer, route,
    maxFeeLamports: USUAL_MAX_FEE_LAMPORTS,
    maxPlatformFeeBps: Math.min(maxFeeBps, usualPlatformFeeBps({ route, wallet, feePayer })),
  };
}

/** Returns what is wrong with terms before anything is held against them. */
function faultOf({ inputMint, outputMint, amountIn, minimumOut, maker, feePayer, maxFeeBps }: SigningRequestTerms, wallet: string): string | undefined {
  const addresses = [inputMint, outputMint, maker, feePayer].filter((address) => address !== undefined);
  if (!addresses.every(isAddress)) return 'expected addresses, the base58 of 32 bytes';
  if (inputMint === outputMint) return 'expected two tokens, got one';
  if (amountIn <= 0n || minimumOut <= 0n) return `expected something given and something for it, got ${amountIn} and ${minimumOut}`;
  if (maker === wallet) return 'expected another maker than the wallet itself';
  if (!Number.isInteger(maxFeeBps) || maxFeeBps < 0) return 'expected whole basis points as maxFeeBps';
  return undefined;
}

/** The caps that bound a swap of a mint, in smallest units, or why it cannot be bounded. */
async function capsInForce(
  mint: string, { settings, chain }: { readonly settings: AuthoriserOptions['settings']; readonly chain: ChainReader | undefined },
): Promise<CapsInForce | (Authorisation & { readonly allowed: false })> {
  const setting = settings.caps.find((cap) => cap.mint === mint);
  if (setting === undefined && !isPlayMoney(settings)) return refused('CAP_MISSING', `${mint} has no cap: name it under "tokens" and give it one in signer.caps`);
  if (!isPlayMoney(settings) && setting?.perHour === undefined && setting?.perDay === undefined) {
    return refused('CAP_MISSING', `signer.caps.${setting!.name} bounds each swap, but not all of them together: give it per_hour or per_day`);
  }
  const costs = costsInForce(settings);
  if (setting === undefined) return { input: undefined, ...costs };
  const decimals = DECIMALS.get(mint) ?? await chain?.decimalsOf(mint);
  if (decimals === undefined) return refused('CAP_DECIMALS_UNREAD', `the decimals of ${setting.name} (${mint}) have not been read: ${chain === undefined ? 'there is no node to ask' : 'the node knows no such mint'}`);
  try {
    return { input: inUnits(setting, decimals), ...costs };
  } catch (error) {
    if (!isGannetError(error)) throw error;
    return refused('CAP_DECIMALS_UNREAD', `signer.caps.${setting.name}: ${error.message}`);
  }
}

/** What bounds the fees and tips of a day. */
function costsInForce(settings: AuthoriserOptions['settings']): Pick<CapsInForce, 'solPerDay' | 'costPerDay'> {
  const sol = settings.caps.find((cap) => cap.mint === NATIVE_MINT);
  const solPerDay = sol?.perDay === undefined ? undefined : parseDecimal(sol.perDay, SOL_DECIMALS);
  return { solPerDay, costPerDay: solPerDay !== undefined || isPlayMoney(settings) ? undefined : COST_PER_DAY_LAMPORTS };
}

function inUnits({ name, perTrade, perHour, perDay }: CapSetting, decimals: number): Cap {
  const units = (text: string | undefined): bigint | undefined => (text === undefined ? undefined : parseDecimal(text, decimals));
  return { name, decimals, perTrade: units(perTrade), perHour: units(perHour), perDay: units(perDay) };
}

/** Deriving an account costs more than all the rest of a judgement: those that come every time are derived before the first. */
function deriveKnownAccounts({ addresses }: Policy, wallet: string, mints: Iterable<string>): void {
  for (const mint of mints) {
    for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) addresses.associated(wallet, mint, program);
  }
}

function describe({ programs, caps, destinations }: AuthoriserOptions['settings'], chain: ChainReader | undefined): Omit<PolicyDescription, 'signed'> {
  return {
    programs: programs.length,
    caps: caps.map(({ name, perTrade, perHour, perDay }) => `${name}: ${[[perTrade, 'a swap'], [perHour, 'an hour'], [perDay, 'a day']]
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
