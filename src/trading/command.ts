import type { Millis } from '../core/time.ts';

/** `active`: everything. `reduce-only`: exits only. `halted`: nothing. */
export type TradingState = 'active' | 'reduce-only' | 'halted';

/** Whether the service lets this run in: without it nothing can be quoted, sent or watched. */
export type ServiceAccessState = 'granted' | 'refused';

/**
 * A word from outside the market; it goes through the inbox and is replayed like everything else.
 * `set-trading-state` is the operator's. `set-service-access` says that the service began to refuse the API key, or took
 * it again. `leap-time` says that the machine slept: timers that are overdue fire now, each once, instead of one by one
 * at instants long past.
 */
export type Command =
  | { readonly kind: 'command'; readonly name: 'set-trading-state'; readonly state: TradingState; readonly reason: string }
  | { readonly kind: 'command'; readonly name: 'set-service-access'; readonly access: ServiceAccessState; readonly reason: string }
  | {
      readonly kind: 'command'; readonly name: 'leap-time'; readonly reason: string;
      /** Where the engine's time stood: the timers due until then have fired at their own instants, woken without an input. */
      readonly from: Millis;
    };
