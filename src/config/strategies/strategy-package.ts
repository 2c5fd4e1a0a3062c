import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import { API_VERSION } from '../../strategy/define.ts';
import { safeText } from '../config-issue.ts';

// A strategy out of an installed package, and the version of the SDK that a package is written for.

/** What a `use` that names a package begins with. */
export const PACKAGE_PREFIX = 'npm:';

const NAME = /^(?<name>(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)(?<part>(?:\/[\w.~-]+)*)$/i;
/** The conditions under which Node picks the file of an import. */
const CONDITIONS: ReadonlySet<string> = new Set(['import', 'node', 'default', 'module-sync', 'node-addons']);
const DECLARATION = `"gannet": { "api": ${API_VERSION} }`;

/** What `package.json` says, as far as it is needed here. */
const DESCRIPTION = z.looseObject({
  main: z.string().optional(), exports: z.json().optional(),
  gannet: z.looseObject({ api: z.json().optional() }).optional(),
});
type Description = z.output<typeof DESCRIPTION>;

/** Returns the file of a strategy in a package, found from a folder as Node finds packages, or else what is wrong. */
export function findPackaged(use: string, baseDir: string): { readonly path: string } | string {
  const { name, part = '' } = NAME.exec(use.slice(PACKAGE_PREFIX.length))?.groups ?? {};
  if (name === undefined) {
    return `expected "npm:" and the name of a package, such as "npm:my-package" or "npm:my-package/strategy", got `
      + `"${safeText(use, 60)}"`;
  }
  const folder = packageFolderOf(name, baseDir);
  if (folder === undefined) return `the package "${name}" is not installed: run "npm install ${name}" in ${baseDir}`;
  const linked = linkTarget(folder);
  if (linked !== undefined) {
    return `the package "${name}" is a link to ${linked}, which the processes of strategies cannot follow: name its `
      + 'file by a path, or install it from its tarball ("npm pack")';
  }
  const file = join(folder, 'package.json');
  const description = readDescription(file);
  if (typeof description === 'string') return `${file} cannot be read: ${description}; install "${name}" again`;
  const { api } = description.gannet ?? {};
  if (api === undefined) {
    return `the package "${name}" holds no strategy, or is written for no version of Gannet: ${file} lacks `
      + `${DECLARATION}; if it does hold one, ask its author for it`;
  }
  const path = fileOf(folder, `.${part}`, description);
  if (path === undefined) return `the package "${name}" has no ".${part}": ${file} names its parts in "exports"`;
  if (!existsSync(path)) return `the package "${name}" has no file ${path}: it is not complete; install it again`;
  if (/\.[cm]?ts$/.test(path)) {
    return `${path} is TypeScript, which Node does not run inside node_modules: the package must be published as `
      + 'JavaScript';
  }
  return { path };
}

/** Returns what is wrong where the package of a file says that it is written for another version of the SDK. */
export function otherVersion(file: string): string | undefined {
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    const found = join(folder, 'package.json');
    if (!isVisible(found)) continue;
    const description = readDescription(found);
    if (typeof description === 'string') return undefined;
    const { api = API_VERSION } = description.gannet ?? {};
    return api === API_VERSION ? undefined
      : `${found} says that ${safeText(file)} is written for version ${safeText(JSON.stringify(api), 20)} of `
        + `Gannet’s SDK, and this Gannet has version ${API_VERSION}: install ${Number(api) > API_VERSION
          ? 'a newer Gannet' : 'a newer version of the package'}, or change the file and say ${DECLARATION}`;
  }
  return undefined;
}

/** Returns whether a file is there; a box says so of the strategy's own package, and refuses to answer of others. */
function isVisible(file: string): boolean {
  try {
    return existsSync(file);
  } catch {
    return false;
  }
}

function packageFolderOf(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', ...name.split('/'));
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(at) === at) return undefined;
  }
}

/** Returns where a package is, if its folder is a link. */
function linkTarget(folder: string): string | undefined {
  try {
    return lstatSync(folder).isSymbolicLink() ? realpathSync(folder) : undefined;
  } catch {
    // A box may read the files of the package, but not its folder. The process that started the box has checked it.
    return undefined;
  }
}

function readDescription(file: string): Description | string {
  try {
    const read = DESCRIPTION.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    return read.success ? read.data : 'it does not describe a package';
  } catch (error) {
    return messageOf(error);
  }
}

/** Returns the file that Node would load for a part of a package. */
function fileOf(folder: string, part: string, { exports, main = 'index.js' }: Description): string | undefined {
  if (exports === undefined || exports === null)
    return part === '.' ? existing(join(folder, main)) : existing(join(folder, part));
  const parts = isMembers(exports) && Object.keys(exports).some((key) => key.startsWith('.')) ? exports
    : { '.': exports };
  const target = targetOf(parts[part]);
  return target === undefined ? undefined : join(folder, target);
}

/** Returns a file as `main` may name it: without an ending, or by its folder. */
function existing(path: string): string {
  return [path, `${path}.js`, join(path, 'index.js')].find((file) => /\.[cm]?[jt]s$/.test(file) && existsSync(file))
    ?? path;
}

function targetOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target.startsWith('./') ? target : undefined;
  if (!isMembers(target)) return undefined;
  const chosen = Object.entries(target).find(([key, value]) => CONDITIONS.has(key) && targetOf(value) !== undefined);
  return chosen === undefined ? undefined : targetOf(chosen[1]);
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
