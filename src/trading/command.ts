/** `active`: everything. `reduce-only`: exits only. `halted`: nothing. */
export type TradingState = 'active' | 'reduce-only' | 'halted';

/** An operator's word; it goes through the inbox and is replayed like everything else. */
export type Command =
  | { readonly kind: 'command'; readonly name: 'set-trading-state'; readonly state: TradingState; readonly reason: string };
