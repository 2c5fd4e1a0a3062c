/** Sustained requests per second that the service's plans allow, for all but the landing of swaps. */
export const PLAN_RATES = { keyless: 0.5, free: 1, developer: 10, launch: 50, pro: 150 } as const;

export type PlanName = keyof typeof PLAN_RATES;
export const PLAN_NAMES = Object.keys(PLAN_RATES) as [PlanName, ...PlanName[]];

/** What the service allows: a plan by name, or a figure of the operator's own. */
export type ServicePlan = PlanName | { readonly requestsPerSecond: number };

/** The embedded service serves nobody else: as good as no limit, while a runaway loop still meets one. */
export const EMBEDDED_PLAN: ServicePlan = { requestsPerSecond: 1_000 };

/** Returns the requests per second of a plan. */
export function planRate(plan: ServicePlan): number {
  return typeof plan === 'string' ? PLAN_RATES[plan] : plan.requestsPerSecond;
}
