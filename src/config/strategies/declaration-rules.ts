import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { codeOf, columnAt, lineAt } from '../../core/source-text.ts';
import type { Strategy } from '../../strategy/define.ts';
import type { JsonSchema } from '../check-value.ts';
import { toJsonSchema } from '../check-value.ts';

/** What a strategy leaves unsaid about itself. */
interface DeclarationFault {
  readonly rule: 'summary' | 'name' | 'description' | 'losses';
  /** For people. */
  readonly message: string;
  /** "dip.ts:12:5". */
  readonly place: string;
}

const WORDS_MIN = 3;
/** Parameters of parameters beyond this depth are not named. */
const DEPTH_MAX = 6;

type DescribedSchema = JsonSchema & { readonly description?: string | undefined };

/** Returns what a strategy leaves unsaid to people, with its places in the file. */
export async function declarationFaults(file: string, strategy: Strategy): Promise<DeclarationFault[]> {
  const text = await readFile(file, 'utf8');
  const code = codeOf(text);
  const placeOf = (pattern: RegExp): string => {
    const at = Math.max(0, code.search(pattern));
    return `${basename(file)}:${lineAt(code, at)}:${columnAt(code, at)}`;
  };
  const { name, summary, losesMoneyWhen } = strategy;
  const faults: DeclarationFault[] = [];
  const called = nameOf(file);
  if (name !== called) {
    faults.push({ rule: 'name', place: placeOf(/\bname\s*:/), message:
      `the strategy is called "${name}", and its file "${called}"` });
  }
  if (typeof summary !== 'string' || wordsIn(summary) < WORDS_MIN)
    faults.push({ rule: 'summary', place: placeOf(/\bsummary\s*:/), message: 'the summary says next to nothing' });
  for (const path of undescribed(toJsonSchema(strategy.params))) {
    const last = path.split('.').at(-1)!.replace('[]', '');
    faults.push({ rule: 'description', place: placeOf(new RegExp(`(?<![\\w$.])${last.replace(/\W/g, '\\$&')}\\s*:`)),
      message: `the parameter "${path}" has no description` });
  }
  if (losesMoneyWhen === undefined || wordsIn(losesMoneyWhen) < WORDS_MIN) {
    faults.push({ rule: 'losses', place: placeOf(/\bdefineStrategy\b\s*\(/), message:
      'nothing says in which markets it loses' });
  }
  return faults;
}

function nameOf(file: string): string {
  const name = basename(file).replace(/\.[cm]?[jt]s$/, '');
  return name === 'index' ? basename(dirname(file)) : name;
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

function undescribed(schema: DescribedSchema, path = '', depth = 0): string[] {
  if (depth > DEPTH_MAX) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const name = path === '' ? key : `${path}.${key}`;
    const own = (member as DescribedSchema).description === undefined ? [name] : [];
    const items = member.items === undefined ? [] : undescribed(member.items, `${name}[]`, depth + 1);
    return [...own, ...undescribed(member, name, depth + 1), ...items];
  });
}
