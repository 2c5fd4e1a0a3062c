/** Returns V_i / V_{i-1} - 1 of each step, undefined where a step begins at nothing or less: no return is defined there. */
export function simpleReturns(values: readonly number[]): number[] | undefined {
  const returns: number[] = [];
  for (let i = 1; i < values.length; i++) {
    const before = values[i - 1]!;
    if (before <= 0) return undefined;
    returns.push(values[i]! / before - 1);
  }
  return returns;
}

/** Returns the values that returns lead to from 1, which stands first. */
export function compounded(returns: readonly number[]): number[] {
  const values = [1];
  for (const change of returns) values.push(values.at(-1)! * (1 + change));
  return values;
}

/** Returns the last value by the first, less 1; undefined where the first is not above 0. */
export function totalReturn(values: readonly number[]): number | undefined {
  const [first] = values;
  return first === undefined || first <= 0 || values.length < 2 ? undefined : values.at(-1)! / first - 1;
}

/** Returns the growth a year, compounded: -1 where everything is lost, undefined where no time passed. */
export function annualGrowth(total: number, years: number): number | undefined {
  if (years <= 0) return undefined;
  return total <= -1 ? -1 : (1 + total) ** (1 / years) - 1;
}
