import type { Declaration, Exported } from './declarations.ts';
import { exportedNames } from './declarations.ts';

/** The parts of the page, by the modules that declare what is in them. */
const PARTS: readonly (readonly [title: string, modules: readonly string[]])[] = [
  ['A strategy', ['strategy/define', 'strategy/params']],
  ['What `run` gets as `ctx`', ['strategy/context', 'strategy/stateful']],
  ['Inputs', [
    'strategy/input', 'strategy/quote-inputs', 'strategy/token-inputs', 'strategy/prediction-inputs',
    'strategy/wallet-inputs', 'strategy/screen',
  ]],
  ['Orders', ['strategy/orders', 'strategy/schedules']],
  ['Sizes, weights and costs', ['strategy/sizing']],
  ['Time', ['strategy/time']],
  ['Indicators', ['strategy/indicate', 'strategy/indicators']],
  ['Markets', [
    'market/quote', 'market/bar', 'market/token', 'market/token-stats', 'market/token-record', 'market/order-book',
    'market/prediction', 'market/binary-contract', 'market/lending', 'market/signal', 'market/wallet-activity',
    'market/feeds/portfolio',
  ]],
  ['Proposals and outcomes', ['trading/proposal', 'trading/intent', 'trading/limits']],
  ['Amounts and durations', ['core/amount', 'core/time']],
];

const BEGIN = `# Reference of the SDK

What \`gannet\` and \`gannet/testing\` export, written from the docstrings of the source by \`npm run docs:reference\`.
[strategies.md](../strategies.md) explains it with examples, [testing.md](../testing.md) the harness for tests, and
[indicators.md](../indicators.md) what \`gannet/indicators\` exports.
`;

/** Returns the page of everything that authors import. Throws where a name has no docstring or no part. */
export function referencePage(): string {
  const [sdk = [], testing = []] = exportedNames('strategy/index', 'testing/index');
  const known = new Set(PARTS.flatMap(([, modules]) => modules));
  const lost = sdk.filter(({ module }) => !known.has(module)).map(({ name, module }) => `${name} of ${module}`);
  if (lost.length > 0) throw new Error(`no part of the reference names the module of ${lost.join(', ')}`);
  const bare = [...sdk, ...testing].filter(({ doc }) => doc === '').map(({ name, module }) => `${name} of ${module}`);
  if (bare.length > 0) throw new Error(`these have no docstring: ${bare.join(', ')}`);
  const parts = PARTS.map(([title, modules]) =>
    [title, modules.flatMap((module) => sdk.filter((each) => each.module === module))] as const);
  const all = [...parts, ['Tests: `gannet/testing`', testing] as const];
  const anchor = anchors();
  return `${BEGIN}
${all.map(([title, names]) => `- ${title}: ${names.map(({ name }) => `[\`${name}\`](#${anchor(name)})`).join(', ')}`)
    .join('\n')}

${all.map(([title, names]) => `## ${title}\n\n${names.map(entry).join('\n\n')}`).join('\n\n')}
`;
}

function entry({ name, doc, text, support }: Exported): string {
  return `### ${name}\n\n${doc}\n\n\`\`\`ts\n${[text, ...support.map(supportText)].join('\n\n')}\n\`\`\``;
}

function supportText({ doc, text }: Declaration): string {
  return `${doc === '' ? '' : `/** ${doc.replaceAll('\n\n', ' ')} */\n`}${text}`;
}

/** Returns what names the anchors of headings in their order: a repeated one gets a number. */
function anchors(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const name = heading.toLowerCase();
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  };
}
