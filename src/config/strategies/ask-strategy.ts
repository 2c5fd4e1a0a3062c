import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isGannetError, messageOf } from '../../core/errors.ts';
import { refusalMessage, refusalOf } from '../../core/refusals.ts';
import { importsOf } from '../../core/source-imports.ts';
import { columnAt, lineAt } from '../../core/source-text.ts';
import { printable } from '../../core/text.ts';
import { placeOf, syntaxPlaceIn, syntaxPlaceOf } from '../../core/throw-place.ts';
import type { FeedSpec } from '../../market/feed.ts';
import { tokenTable } from '../../market/token.ts';
import type { Strategy } from '../../strategy/define.ts';
import { isStrategy } from '../../strategy/define.ts';
import { withTokens } from '../../strategy/params.ts';
import type { Refused } from '../check-value.ts';
import { checkValue } from '../check-value.ts';
import type { DescribedParam } from './describe-params.ts';
import { describeParams } from './describe-params.ts';
import { shareModules } from '../../core/shared-modules.ts';
import type { StrategyQuestion, StrategyReading } from './strategy-reader.ts';

// The side that runs the code of a strategy: in the process of its own that trades for it, or where no key is in reach.

/** Why a file gives no strategy: importing it failed, or its default export is none. */
export type LoadFault = { readonly kind: 'not-loaded'; readonly message: string } | { readonly kind: 'no-strategy' };

/** What the code of a strategy says about itself. Amounts are decimal text, so that it can be sent as JSON. */
export type StrategyAnswer =
  | LoadFault
  /** Its file was loaded; no parameters were given. */
  | {
    readonly kind: 'loaded'; readonly name: string; readonly summary: string;
    readonly losesMoneyWhen?: string | undefined; readonly params: readonly DescribedParam[];
  }
  /** Its schema refuses the parameters. */
  | { readonly kind: 'refused'; readonly name: string } & Refused
  /** It threw; `isTold` says whether the message is the SDK's, for people, or an error of any kind. */
  | { readonly kind: 'failed'; readonly name: string; readonly message: string; readonly isTold: boolean }
  | {
    readonly kind: 'read'; readonly name: string; readonly summary: string;
    readonly inputs: readonly DeclaredInput[];
  };

/** The feeds of one input. */
interface DeclaredInput {
  readonly name: string;
  readonly spec: FeedSpec;
  readonly further?: readonly FeedSpec[] | undefined;
}

/** The module of a strategy, or why there is none. */
type StrategyModule = { readonly strategy: Strategy } | { readonly answer: LoadFault };

/** The part of a question that the code answers. */
type Asked = Pick<StrategyQuestion, 'params' | 'tokens'>;

/** Imports a strategy's file, once for each `query` that is added to its address. Throws nothing. */
export async function importModule(file: string, query = ''): Promise<StrategyModule> {
  shareModules(file);
  try {
    const { default: strategy } = await import(`${pathToFileURL(file).href}${query}`) as { readonly default?: unknown };
    return isStrategy(strategy) ? { strategy } : { answer: { kind: 'no-strategy' } };
  } catch (error) {
    const message = refusalMessage(error).split('\n')[0] ?? '';
    // What a box refuses names its place already.
    if (refusalOf(error) !== undefined) return { answer: { kind: 'not-loaded', message } };
    return { answer: { kind: 'not-loaded', message: `${await loadPlaceOf(error, file)}: ${message}` } };
  }
}

const SOURCE = /\.[cm]?[jt]s$/;
const MISSING = /^Cannot find (?:module|package) '([^']+)' imported from (\/\S+)/;

/**
 * Returns where in an author's code loading it failed, "dip.ts:4:6": the line that threw, the place of an error of
 * syntax, or the import of a module that does not exist. Where nothing says it, the name of the strategy's file.
 */
async function loadPlaceOf(error: unknown, file: string): Promise<string> {
  const known = placeOf(error) ?? syntaxPlaceOf(error)
    ?? (error instanceof SyntaxError ? await syntaxFaultIn(file) : undefined);
  if (known !== undefined) return known;
  const [, missing, importer = file] = MISSING.exec(messageOf(error)) ?? [];
  const name = printable(basename(importer), 100);
  if (missing === undefined) return name;
  const text = await textOfFile(importer);
  const found = importsOf(text).find(({ specifier }) => specifier !== undefined
    && (specifier === missing || missing.endsWith(specifier.replace(/^(?:\.{1,2}\/)+/, '/'))));
  if (found === undefined) return name;
  const at = text.indexOf(found.specifier!);
  return `${name}:${lineAt(text, at)}:${columnAt(text, at)}`;
}

/** Returns the place of an error of syntax in a file, or in those that it imports from beside it. */
async function syntaxFaultIn(file: string, seen = new Set<string>()): Promise<string | undefined> {
  if (seen.has(file) || !SOURCE.test(file)) return undefined;
  seen.add(file);
  const text = await textOfFile(file);
  const place = syntaxPlaceIn(text, file);
  if (place !== undefined) return place;
  for (const { specifier } of importsOf(text)) {
    const found = specifier?.startsWith('.') === true
      ? await syntaxFaultIn(resolve(dirname(file), specifier), seen) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

async function textOfFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    // A file that cannot be read again has no place in it.
    return '';
  }
}

/** Returns what a strategy says about parameters. Throws nothing that its code throws. */
export function askStrategy(module: StrategyModule, question: Asked): StrategyReading {
  if ('answer' in module) return { answer: textOf(module.answer) };
  const { strategy } = module;
  const { name } = strategy;
  try {
    const { answer, params } = answerOf(strategy, question);
    return { answer: textOf(answer), here: answer.kind === 'read' ? { strategy, params } : undefined };
  } catch (error) {
    // A schema and `inputs` are the author's code: what they throw is a fault of the strategy with these parameters.
    return { answer: textOf({ kind: 'failed', name, message: messageOf(error), isTold: isGannetError(error) }) };
  }
}

function answerOf(
  strategy: Strategy, { params, tokens }: Asked,
): { readonly answer: StrategyAnswer; readonly params?: unknown } {
  const { name, summary, losesMoneyWhen } = strategy;
  if (params === undefined)
    return { answer: { kind: 'loaded', name, summary, losesMoneyWhen, params: describeParams(strategy.params) } };
  return withTokens(tokenTable(tokens), () => {
    const checked = checkValue(strategy.params, params);
    if (!checked.ok) {
      const { findings, schema } = checked;
      return { answer: { kind: 'refused', name, findings, schema } };
    }
    const inputs = Object.entries(strategy.inputs(checked.value))
      .map(([input, { spec, further }]) => ({ name: input, spec, further }));
    return { answer: { kind: 'read', name, summary, inputs }, params: checked.value };
  });
}

function textOf(answer: StrategyAnswer): string {
  return JSON.stringify(answer, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
}
