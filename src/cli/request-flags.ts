import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { U64_MAX } from '../core/amount.ts';

/** How the text of a flag becomes a parameter; whether the value makes sense is the client's to say, in the rule's words. */
const READERS = {
  text: (text: string) => text,
  list: readList,
  number: readNumber,
  amount: readAmount,
  flag: readFlag,
} as const;

type Kind = keyof typeof READERS;

/** A parameter as a flag: how it is read and what it means, for the help. */
export type Flag = readonly [kind: Kind, help: string];

/** A flag for every parameter of a request but those that the command takes in another way: none can be forgotten. */
export type RequestFlags<R, Positional extends keyof R = never> = { readonly [Name in Exclude<keyof R, Positional>]-?: Flag };

/** Adds the flags of a request to a command, `slippageBps` as `--slippage-bps`. Those in `required` must be given. */
export function addFlags<Names extends string>(command: Command, flags: Readonly<Record<Names, Flag>>, required: readonly Names[] = []): Command {
  for (const [name, [kind, help]] of Object.entries(flags) as [Names, Flag][]) {
    const isRequired = required.includes(name);
    const option = new Option(`${flagOf(name)} <${PLACEHOLDERS[kind]}>`, isRequired ? `${help} (required)` : help).argParser((text: string): unknown => READERS[kind](text));
    command.addOption(option.makeOptionMandatory(isRequired));
  }
  return command;
}

const PLACEHOLDERS: Readonly<Record<Kind, string>> = { text: 'value', list: 'a,b', number: 'n', amount: 'n', flag: 'true|false' };

/** Returns the flag of a parameter: `--slippage-bps` for `slippageBps`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function readList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  // An empty one would be no list at all to the service, and what was meant to be excluded would not be.
  if (parts.includes('')) throw new InvalidArgumentError('expected words with commas between them.');
  return parts;
}

function readNumber(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected a number.');
  const value = Number(text);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new InvalidArgumentError(`the number is too large: expected at most ${Number.MAX_SAFE_INTEGER}.`);
  return value;
}

function readAmount(text: string): bigint {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number in smallest units.');
  const value = text.length > 100 ? undefined : BigInt(text);
  if (value === undefined || value > U64_MAX) throw new InvalidArgumentError(`the amount is too large: expected at most ${U64_MAX} smallest units.`);
  return value;
}

function readFlag(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('expected true or false.');
  return text === 'true';
}
