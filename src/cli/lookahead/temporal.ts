/** As much of it as is replaced: this Node has it, the language's types do not yet. */
export interface TemporalGlobal {
  readonly Now: TemporalNow;
  readonly Instant: { fromEpochMilliseconds(at: number): { toZonedDateTimeISO(zone: unknown): ZonedDateTime } };
  readonly [name: string]: unknown;
}

export interface TemporalNow {
  readonly timeZoneId: () => string;
  readonly instant: () => unknown;
  readonly zonedDateTimeISO: (zone?: unknown) => unknown;
  readonly plainDateTimeISO: (zone?: unknown) => unknown;
  readonly plainDateISO: (zone?: unknown) => unknown;
  readonly plainTimeISO: (zone?: unknown) => unknown;
}

export interface ZonedDateTime {
  toInstant(): unknown;
  toPlainDateTime(): unknown;
  toPlainDate(): unknown;
  toPlainTime(): unknown;
}

/** Returns what tells dates and times beside `Date`, where this Node has it. */
export function temporal(): TemporalGlobal | undefined {
  return Reflect.get(globalThis, 'Temporal') as TemporalGlobal | undefined;
}
