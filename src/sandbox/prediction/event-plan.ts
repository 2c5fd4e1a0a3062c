import type { PredictionMarketOptions } from '../market/prediction-market.ts';

/** The two sources of markets that the service knows, by the reference's neutral names. */
export const PROVIDERS = ['provider_a', 'provider_b'] as const;
export type Provider = (typeof PROVIDERS)[number];

export const CATEGORIES = ['crypto', 'sports', 'politics', 'esports', 'culture', 'economics', 'tech'] as const;
export type Category = (typeof CATEGORIES)[number];

export type Outcome = 'yes' | 'no' | 'cancelled';

/** What is to be known of a market before it runs. */
export interface MarketPlan extends PredictionMarketOptions {
  readonly title: string;
  readonly rules: string;
  readonly isTeam?: boolean;
  /** Where trading has ended already, or was halted without a result yet: slots, counted from the start. */
  readonly ended?: { readonly haltSlot: number; readonly resolveSlot?: number; readonly outcome?: Outcome };
}

/** What is to be known of an event before it runs. Titles and rules are what a venue wrote: text from outside. */
export interface EventPlan {
  readonly eventId: string;
  readonly provider: Provider;
  readonly category: Category;
  readonly subcategory: string;
  readonly series: string;
  readonly title: string;
  readonly subtitle: string;
  readonly tags: readonly string[];
  readonly closeCondition: string;
  readonly isLive?: boolean;
  /**
   * At most one of its markets resolves to yes; otherwise a market that is likelier than one that did resolves to yes
   * too.
   */
  readonly isExclusive?: boolean;
  readonly volumeUsdPerDay: number;
  readonly markets: readonly MarketPlan[];
}
