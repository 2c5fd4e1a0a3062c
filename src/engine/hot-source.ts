import type { Subscriber, TeardownLogic } from 'rxjs';
import { Observable } from 'rxjs';
import { PriceSubscriber } from '../strategy/indicators.ts';

/**
 * A minimal multicast without closure or copy per emission. Subscribing and unsubscribing replace the list, so an
 * emission under way uses the list it started with.
 */
export class HotSource<T> extends Observable<T> {
  #subscribers: readonly Subscriber<T>[] = [];

  constructor() {
    super((subscriber): TeardownLogic => {
      this.#subscribers = [...this.#subscribers, subscriber];
      return () => {
        this.#subscribers = this.#subscribers.filter((other) => other !== subscriber);
      };
    });
  }

  /** Whether anything subscribes to it. */
  get isObserved(): boolean {
    return this.#subscribers.length > 0;
  }

  /** What takes prices of quotes that lead to nothing; undefined where every quote must be emitted. */
  get taker(): PriceSubscriber | undefined {
    const [only] = this.#subscribers;
    return this.#subscribers.length === 1 && only instanceof PriceSubscriber ? only : undefined;
  }

  emit(value: T): void {
    const subscribers = this.#subscribers;
    for (let i = 0; i < subscribers.length; i++) subscribers[i]!.next(value);
  }

  complete(): void {
    for (const subscriber of this.#subscribers) subscriber.complete();
  }
}
