import { NEVER, map, type Observable, type Subscription } from 'rxjs';
import type { Millis } from '../core/time.ts';
import type { MonotonicTime } from './monotonic-time.ts';
import type { Chain, TransactionHint } from './ports.ts';

/** The interval of polls while hints are reliable: the same bytes are sent again after as long. */
const RARE_POLL_MS: Millis = 2_000;

/** Ends the pauses between polls of a transaction at a hint, and makes them longer while hints are reliable. */
export class LandingHints {
  readonly #subscription: Subscription;
  #isReliable = false;
  /** Whether a hint came since the last poll began. */
  #isDue = false;
  #wake = new AbortController();

  /** Follows a transaction, or its wallet where the transaction's id is not known. */
  constructor(
    chain: Pick<Chain, 'transactionHints$' | 'walletHints$'>,
    { transactionId, owner }: { readonly transactionId: string | undefined; readonly owner?: string | undefined },
  ) {
    const hints$: Observable<TransactionHint> | undefined = transactionId === undefined
      ? owner === undefined ? undefined : chain.walletHints$?.(owner).pipe(map(() => ({ isReliable: false })))
      : chain.transactionHints$?.(transactionId);
    this.#subscription = (hints$ ?? NEVER).subscribe(({ isReliable }) => {
      this.#isReliable = isReliable;
      this.#isDue = true;
      this.#wake.abort();
    });
  }

  /** Notes that a poll begins: it sees what the hints so far were about. */
  polls(): void {
    this.#isDue = false;
  }

  /** Waits until the next poll is due. */
  async pause(time: MonotonicTime, usualMs: Millis, signal?: AbortSignal): Promise<void> {
    if (this.#isDue) return;
    this.#wake = new AbortController();
    const spanMs = this.#isReliable ? Math.max(usualMs, RARE_POLL_MS) : usualMs;
    await time.pause(spanMs, signal === undefined ? this.#wake.signal : AbortSignal.any([signal, this.#wake.signal]));
  }

  close(): void {
    this.#subscription.unsubscribe();
  }
}
