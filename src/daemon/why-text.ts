/** Returns why something happened, "CODE: reason"; a code that the reason names already is not said twice. Empty where nothing is known. */
export function whyText(code: string | null | undefined, reason: string | null | undefined): string {
  if (code !== null && code !== undefined && reason?.includes(code) === true) return reason;
  return [code, reason].filter((part) => part !== null && part !== undefined && part !== '').join(': ');
}
