import { hostile, member, quietly, reach, take } from './attack.ts';
import type { Acts, Hands } from './attack.ts';

// Attacks that load code in ways that a check of imports does not see, to reach what was taken away.

await reach('fs', 'module', 'vm');

const DATA = 'data:text/javascript,';

/** Returns code that reads a file with whatever the place offers it. */
const reader = ({ aim }: Hands): string =>
  `(process.getBuiltinModule?.('fs') ?? process.binding('fs')).readFileSync(${JSON.stringify(aim.keyFile)}, 'utf8')`;

const evaluate = (code: string): unknown => {
  const make = Reflect.get(Reflect.get(() => undefined, 'constructor') as object, 'constructor') as unknown;
  const build = (typeof make === 'function' ? make : Function) as (text: string) => () => unknown;
  return build(`return ${code}`)();
};

async function imported(address: string): Promise<unknown> {
  const { default: found } = await import(address) as { readonly default: unknown };
  return found;
}

function hooked({ aim, name }: Hands): unknown {
  const { registerHooks } = take('module');
  registerHooks({
    load: (url, context, next) => {
      quietly(() => { take('fs').writeFileSync(`${aim.marks}/${name}`, url); });
      return next(url, context);
    },
  });
  return 'hooked the loading of modules';
}

/** The attacks of this file, by name. */
export const LOADING_ATTACKS: Acts = {
  'data-url': (hands) => imported(`${DATA}export default ${encodeURIComponent(reader(hands))}`),
  'data-url-with-import': ({ aim }) => imported(`${DATA}${encodeURIComponent(
    `import { readFileSync } from 'node:fs'; export default readFileSync(${JSON.stringify(aim.keyFile)}, 'utf8')`,
  )}`),
  'blob-url': (hands) => {
    const url = URL.createObjectURL(new Blob([`export default ${reader(hands)}`], { type: 'text/javascript' }));
    return imported(url);
  },
  'file-outside': async ({ aim }) => imported(`file://${aim.canaryFile.replace(/[^/]*$/, 'input-outside.mjs')}`),
  'function-constructor': (hands) => evaluate(reader(hands)),
  'function-constructor-with-import': (hands) => evaluate(
    `import('node:fs').then((fs) => fs.readFileSync(${JSON.stringify(hands.aim.keyFile)}, 'utf8'))`,
  ),
  'vm-context': (hands) => take('vm').runInNewContext(`host.constructor.constructor('return ${
    reader(hands).replaceAll("'", '"')}')()`, { host: {} }) as unknown,
  'vm-here': (hands) => take('vm').runInThisContext(reader(hands)) as unknown,
  'module-register': ({ aim }) => {
    take('module').register(`${DATA}export const load = (url, context, next) => next(url, context)`, aim.project);
    return 'registered a loader';
  },
  'module-hooks': hooked,
  'module-internals': ({ aim }) => {
    const internals = take('module') as unknown as { readonly _load?: (name: string) => typeof import('node:fs') };
    return internals._load?.('fs').readFileSync(aim.keyFile, 'utf8');
  },
  'native-addon': ({ aim }) => {
    const require = take('module').createRequire(`${aim.project}/package.json`);
    const addon = Object.keys(require('litesvm-linux-x64-gnu') as object);
    return `loaded a native add-on with ${addon.length} members`;
  },
  'dlopen': ({ aim }) => {
    const file = `${aim.project}/node_modules/litesvm-linux-x64-gnu/litesvm.linux-x64-gnu.node`;
    member(process, 'dlopen')({ exports: {} }, file);
    return 'loaded a native add-on';
  },
  'foreign-functions': async () => {
    const ffi = await import(['node', 'ffi'].join(':')) as Readonly<Record<string, unknown>>;
    return member(ffi, 'dlopen')('libc.so.6', { getpid: { result: 'i32', parameters: [] } });
  },
  'code-of-the-signer': async ({ aim }) => {
    const { readSecretKey } = await import(`${aim.project}/src/signer/key-file.ts`) as Readonly<
      Record<string, (given: object) => Promise<object>>>;
    const key = await readSecretKey!({ source: `file:${aim.keyFile}`, environment: process.env });
    return `read a key: ${Object.keys(key).join(' ')}`;
  },
  'code-of-the-daemon': async ({ aim }) => {
    const { readControlFile } = await import(`${aim.project}/src/daemon/control/control-file.ts`) as Readonly<
      Record<string, (stateDir: string) => unknown>>;
    return readControlFile!(aim.stateDir);
  },
  'code-of-the-journal': async ({ aim }) => {
    const { openJournal } = await import(`${aim.project}/src/store/journal.ts`) as Readonly<
      Record<string, (given: object) => { close(): void }>>;
    openJournal!({ path: `${aim.stateDir}/journal.sqlite`, clock: { now: () => 0 } }).close();
    return 'opened the journal';
  },
};

export default hostile('hostile-loading', LOADING_ATTACKS);
