import type { Subscription } from 'rxjs';
import type { Chain } from '../../chain/chain.ts';
import { isGannetError, messageOf } from '../../core/errors.ts';
import type { Clock, Millis } from '../../core/time.ts';
import { wait } from '../../execution/monotonic-time.ts';
import type { Mint } from '../../market/token.ts';
import type { WriteBehindJournal } from '../../store/write-behind-journal.ts';
import { isUnreadable } from '../../trading/attempt.ts';
import type { AdjustWallet } from '../../trading/engine-command.ts';
import type { EngineState } from '../../trading/engine-state.ts';
import type { WalletWatchOptions } from './ledger-comparison.ts';
import { compareWallet, watchWallet } from './ledger-comparison.ts';

/** The run whose ledger is held against the chain. */
export interface KeptLedger {
  readonly state: Pick<EngineState, 'intents' | 'portfolio'>;
  /** Changes with every booking. */
  readonly version: () => number;
  readonly accept: (command: AdjustWallet) => void;
  readonly hasEnded: () => boolean;
}

/** Keeps the ledger equal to the wallet on the chain: transfers by others are booked. */
export interface WalletKeeper {
  /**
   * Books what others moved between runs. Resolves once ledger and chain agree, or the run has ended. Asks again where
   * the node does not answer, and reports why it still waits.
   */
  settle(ledger: KeptLedger, onWait: (why: string) => void): Promise<void>;
  /** Does the same at least every minute, and soon after swaps have ended. */
  watch(ledger: KeptLedger, onError: (error: unknown) => void): Subscription;
}

const RETRY_MS: Millis = 2_000;
const JOURNAL_BEHIND = 'the journal waits for its disk, and swaps that it lacks cannot be recognised as ours';

/** Returns the keeper of a wallet on a chain. `journal` knows which transactions are ours. */
export function createWalletKeeper({ wallet, chain, journal, clock, onFault }: {
  /** Base58. */
  readonly wallet: string;
  readonly chain: WalletWatchOptions['chain'] & Pick<Chain, 'finalizedBlockHeight' | 'signatureStatus'>
    & Partial<Pick<Chain, 'walletHints$'>>;
  readonly journal: Pick<WriteBehindJournal, 'isBehind' | 'isOwnTransaction' | 'lastLanded'>;
  readonly clock: Clock;
  readonly onFault: (error: Error) => void;
}): WalletKeeper {
  /** The wallet's newest transaction before the last balances that agreed with the ledger. */
  let agreedAt: string | undefined;
  /** The wallet's newest transaction before the last balances were read. */
  let newestBefore: string | undefined;
  /** By mint: the transactions that the current comparison counted as taking some of it. */
  const counted = new Map<Mint, string[]>();
  /** `mint signature` of transactions with a booked withdrawal. They explain no other loss. */
  const booked = new Set<string>();
  const optionsFor = ({ state, version }: KeptLedger): WalletWatchOptions => ({
    wallet, clock,
    hints$: chain.walletHints$?.(wallet),
    // Balances refer to the newest finalized slot. A wrong one would be awaited until the next request for it.
    chain: { ...chain, balances: async (owner, how) => {
      counted.clear();
      // Read before the balances: what lands in between counts as newer.
      [newestBefore] = await Promise.all([newestTransaction(), unlessUnagreed(chain.finalizedBlockHeight())]);
      return chain.balances(owner, how);
    }, landedSwap: async (of) => {
      if (booked.has(`${of.inputMint} ${of.signature}`)) return undefined;
      const landed = await chain.landedSwap(of);
      const explains = landed !== undefined && !(isUnreadable(landed) && landed.mayBeOwn);
      if (explains) counted.set(of.inputMint, [...counted.get(of.inputMint) ?? [], of.signature]);
      return landed;
    } },
    // A swap is recognised as ours once the journal has it.
    ledger: () => (journal.isBehind() ? undefined : {
      balances: state.portfolio.wallet, version: version(), open: state.intents.values().map(({ intent }) => intent),
    }),
    isOwn: (signature) => journal.isOwnTransaction(signature),
    agreedAt: () => agreedAt,
    onAgreed: () => { agreedAt = newestBefore ?? agreedAt; },
  });

  function accept(ledger: KeptLedger, command: AdjustWallet): void {
    if (ledger.hasEnded()) return;
    ledger.accept(command);
    if (command.cause !== 'withdrawal') return;
    for (const signature of counted.get(command.mint) ?? []) booked.add(`${command.mint} ${signature}`);
  }

  /** Undefined where the node does not answer: then the rule of the first comparison applies. */
  async function newestTransaction(): Promise<string | undefined> {
    try {
      return (await chain.newestTransactions(wallet))[0]?.signature;
    } catch (error) {
      if (!isGannetError(error)) throw error;
      onFault(error);
      return undefined;
    }
  }

  async function compare(ledger: KeptLedger): Promise<AdjustWallet[] | undefined> {
    // With it the chain client knows how far a node must be to have seen what the ledger booked.
    const last = journal.lastLanded();
    if (last !== undefined) await unlessUnagreed(chain.signatureStatus(last, { searchHistory: true }));
    return compareWallet(optionsFor(ledger));
  }

  return {
    async settle(ledger, onWait) {
      while (!ledger.hasEnded()) {
        let why = 'the node’s answers do not agree with one another yet';
        try {
          const commands = await compare(ledger);
          if (journal.isBehind()) why = JOURNAL_BEHIND;
          if (commands !== undefined) {
            for (const command of commands) accept(ledger, command);
            agreedAt = newestBefore;
            return;
          }
        } catch (error) {
          if (!isGannetError(error)) throw error;
          onFault(error);
          why = messageOf(error);
        }
        onWait(why);
        await wait(clock, RETRY_MS);
      }
    },
    watch: (ledger, onError) => watchWallet({ ...optionsFor(ledger), onFault })
      .subscribe({ next: (command) => { accept(ledger, command); }, error: onError }),
  };
}

/** One node of several is enough to learn the newest slot; a difference wants the agreement of two in any case. */
async function unlessUnagreed(asked: Promise<unknown>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!isGannetError(error) || error.code !== 'CHAIN_UNAGREED') throw error;
  }
}
