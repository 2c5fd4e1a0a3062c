import { z } from 'zod';
import { watchedBy } from '../../../../src/config/run-config.ts';
import { formatDuration } from '../../../../src/core/time.ts';
import { feedKey } from '../../../../src/market/feed.ts';
import { describeFeedKey } from '../../../../src/market/market-text.ts';
import type { CatalogueEntry } from '../catalogue.ts';

/** The folder of the page and of its pictures, from the project's folder. */
export const CATALOGUE_DIR = 'docs/strategies';

const HEADER = `# The catalogue of strategies

<!-- Written by "npm run docs:catalogue" from the strategies, their configurations and their parameters' schemas. -->

Each strategy is one file of \`strategies/\`, with a configuration to run and to copy. Each picture is a backtest of
that configuration in a generated market: what the strategy watches, with purchases (filled), sales (empty) and alerts
(violet), and its equity below. A generated market proves no profit ([research.md](../research.md)).
`;

/** Returns the page of the catalogue. */
export function cataloguePage(entries: readonly CatalogueEntry[]): string {
  const index = entries.map(({ name, own }) => `| [${name}](#${name}) | ${cell(own.strategy.summary)} |`);
  return [
    HEADER, '| strategy | what it does |', '|---|---|', ...index, '', ...entries.map(sectionOf),
  ].join('\n');
}

function sectionOf({ name, yaml, config, own }: CatalogueEntry): string {
  const { strategy } = own;
  const watched = [...new Map(watchedBy(own).map(({ spec }) => [feedKey(spec), spec])).values()].map((spec) =>
    `${describeFeedKey(config.tokens, feedKey(spec))} every ${formatDuration(spec.everyMs)}`);
  return `## ${name}

${strategy.summary}

![A backtest of ${name}](pictures/${name}.svg)

**When it loses money.** ${strategy.losesMoneyWhen ?? ''}

**Watches**, in [\`${yaml}\`](../../${yaml}): ${watched.length === 0 ? 'nothing' : watched.join('; ')}.

| parameter | default | meaning |
|---|---|---|
${parameterRows(strategy.params).join('\n')}
`;
}

function parameterRows(params: z.ZodType): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => {
    const { description = '' } = typeof schema === 'boolean' ? {} : schema;
    const given = defaultOf(params, name);
    const fallback = given === undefined ? (required.includes(name) ? 'required' : '–')
      : `\`${typeof given === 'string' ? given : JSON.stringify(given)}\``;
    return `| \`${name}\` | ${cell(fallback)} | ${cell(description)} |`;
  });
}

/** Returns the default of a parameter as the schema declares it. */
function defaultOf(params: z.ZodType, name: string): unknown {
  const field = params instanceof z.ZodObject ? (params.shape as z.ZodRawShape)[name] : undefined;
  return field instanceof z.ZodDefault ? field.def.defaultValue : undefined;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
