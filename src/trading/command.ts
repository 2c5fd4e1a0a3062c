/** `active`: everything. `reduce-only`: exits only. `halted`: nothing. */
export type TradingState = 'active' | 'reduce-only' | 'halted';

/**
 * A word from outside the market; it goes through the inbox and is replayed like everything else.
 * `set-trading-state` is the operator's. `leap-time` says that the machine slept: timers that are overdue fire now, each
 * once, instead of one by one at instants long past.
 */
export type Command =
  | { readonly kind: 'command'; readonly name: 'set-trading-state'; readonly state: TradingState; readonly reason: string }
  | { readonly kind: 'command'; readonly name: 'leap-time'; readonly reason: string };
