import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ProjectFiles, StrategyPlace } from './templates.ts';
import { projectFiles, strategyCode, strategyTest, strategyYaml } from './templates.ts';
import type { CommandContext, CommandModule, RunCommand } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { refuseImpossibleFolder } from '../../input/files.ts';
import { CODE_DIR, PROJECT_DIR } from '../../../core/code-files.ts';
import { GannetError, messageOf } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';

/** The strategy that a new project begins with. */
const FIRST = 'dip';
const NAME = /^[a-z][a-z0-9-]{0,62}$/;

/** Adds the command that begins a strategy. */
export function addNew(group: Command, run: RunCommand): void {
  group.command('new <name>')
    .description('writes a strategy, its test and its configuration into strategies/, test/ and config/ of this folder')
    .addHelpText('after', example('gannet strategy new my-breakout'))
    .action(run(beginStrategy));
}

/** Adds the command that begins a project. */
export const initCommand: CommandModule = (program, run) => {
  program.command('init <dir>')
    .description('writes a project of your own into a new or empty folder: one strategy, its test, its configuration, '
      + 'package.json with Gannet as a dependency, tsconfig, .env.example, .gitignore and README')
    .option('--gannet <spec>', 'where npm finds Gannet: a version, or file:PATH of a tarball (default: where this one '
      + 'comes from)')
    .addHelpText('after', example('gannet init my-bot'))
    .action(run(beginProject));
};

async function beginStrategy({ terminal }: CommandContext, name: string): Promise<ExitCode> {
  if (!NAME.test(name)) {
    throw new GannetError('USAGE', 'expected a name of up to 63 lower case letters, digits and dashes that begins with '
      + `a letter, got "${printable(name, 60)}"`);
  }
  const folder = process.cwd();
  const isCheckout = resolve(PROJECT_DIR) === folder && CODE_DIR === join(folder, 'src');
  const files = isCheckout ? checkoutFiles(name) : ownFiles(name, `config/${name}.yaml`);
  const written = writeAll(folder, files);
  terminal.result({ folder, files: written }, () => writtenText(written)
    + `\n  ${isCheckout ? `npx vitest run test/strategies/${name}.test.ts` : 'npm test'}\n`
    + `  npx gannet config check config/${name}.yaml\n`);
  return EXIT.done;
}

async function beginProject(
  { terminal }: CommandContext, dir: string, { gannet }: { readonly gannet?: string },
): Promise<ExitCode> {
  const folder = resolve(dir);
  refuseImpossibleFolder(folder, 'the folder');
  const shown = printable(dir, 100);
  if (existsSync(folder)) {
    if (!statSync(folder).isDirectory()) throw new GannetError('USAGE', `${shown} is a file: name a new folder`);
    if (readdirSync(folder).length > 0) {
      throw new GannetError(
        'USAGE', `${shown} is not empty, and nothing was written into it: name a new or an empty folder`,
      );
    }
  }
  const { version, dependencies, devDependencies } = packageOf(PROJECT_DIR);
  const files = {
    ...projectFiles({
      project: projectName(folder), gannet: gannet ?? gannetSpec(version),
      versions: {
        'rxjs': dependencies?.['rxjs'] ?? '^7.8.2', 'zod': dependencies?.['zod'] ?? '^4.0.0',
        'typescript': devDependencies?.['typescript'] ?? '^5.9.0',
        '@types/node': devDependencies?.['@types/node'] ?? '^26.0.0',
      },
    }, FIRST),
    ...ownFiles(FIRST, 'config/gannet.yaml'),
  };
  const written = writeAll(folder, files);
  terminal.result({ folder, files: written }, () => writtenText(written.map((file) => join(dir, file)))
    + `\n  cd ${shown}\n  npm install\n  npm test\n\n  README.md says how to backtest and to run it.\n`);
  return EXIT.done;
}

function writtenText(files: readonly string[]): string {
  return files.map((file) => `  ${printable(file)}\n`).join('');
}

/** The files of a strategy in a project of one's own, which imports Gannet by name. */
function ownFiles(name: string, config: string): ProjectFiles {
  const place: StrategyPlace = {
    name, sdk: 'gannet', testing: 'gannet/testing', runner: 'node:test',
    fromTest: `../strategies/${name}.ts`, use: `../strategies/${name}.ts`,
  };
  return {
    [`strategies/${name}.ts`]: strategyCode(place), [`test/${name}.test.ts`]: strategyTest(place),
    [config]: strategyYaml(place),
  };
}

/** The files of a strategy in the checkout of Gannet. */
function checkoutFiles(name: string): ProjectFiles {
  const place: StrategyPlace = {
    name, sdk: '../src/strategy/index.ts', testing: '../../src/testing/index.ts', runner: 'vitest',
    fromTest: `../../strategies/${name}.ts`, use: name,
  };
  return {
    [`strategies/${name}.ts`]: strategyCode(place), [`test/strategies/${name}.test.ts`]: strategyTest(place),
    [`config/${name}.yaml`]: strategyYaml(place),
  };
}

/** Writes files that do not exist yet, all or none. Returns their paths. Throws USAGE. */
function writeAll(folder: string, files: ProjectFiles): string[] {
  const paths = Object.keys(files);
  const taken = paths.filter((path) => existsSync(join(folder, path)));
  if (taken.length > 0) {
    throw new GannetError('USAGE', `nothing was written, because ${taken.join(' and ')} `
      + `${taken.length === 1 ? 'is' : 'are'} there already: choose another name, or move what is there`);
  }
  const made: string[] = [];
  try {
    for (const [path, text] of Object.entries(files)) {
      const file = join(folder, path);
      const first = mkdirSync(dirname(file), { recursive: true });
      if (first !== undefined) made.push(first);
      writeFileSync(file, text, { flag: 'wx' });
      made.push(file);
    }
  } catch (error) {
    for (const path of made.toReversed()) rmSync(path, { recursive: true, force: true });
    throw new GannetError(
      'USAGE', `nothing was written into ${printable(folder, 200)}: ${messageOf(error)}`, { cause: error },
    );
  }
  return paths;
}

interface PackageFile {
  readonly version?: string | undefined;
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  readonly devDependencies?: Readonly<Record<string, string>> | undefined;
}

function packageOf(folder: string): PackageFile {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile;
}

/** Returns where npm finds this Gannet: the checkout, the file that it was installed from, or its version. */
function gannetSpec(version = '0.0.0'): string {
  const home = resolve(PROJECT_DIR);
  if (basename(dirname(home)) !== 'node_modules') return `file:${home}`;
  const owner = dirname(dirname(home));
  const manifest = existsSync(join(owner, 'package.json')) ? packageOf(owner) : {};
  const spec = manifest.dependencies?.['gannet'] ?? manifest.devDependencies?.['gannet'];
  if (spec === undefined) return `^${version}`;
  return spec.startsWith('file:') ? `file:${resolve(owner, spec.slice('file:'.length))}` : spec;
}

/** Returns a name that npm takes. */
function projectName(folder: string): string {
  const name = basename(folder).toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-').replaceAll(/^-+|-+$/g, '');
  return name === '' || name === 'gannet' ? 'my-bot' : name;
}
