import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import chromium, { inflate } from '@sparticuz/chromium';
import type { Browser } from 'playwright-core';
import { chromium as driver } from 'playwright-core';

const PACKAGE = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..');
const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { readonly version: string };
/** Unpacked once for all test files and all runs; `npm ci` takes it away. */
const HOME = join(PACKAGE, '..', '..', '.cache', `test-browser-${version}`);

/**
 * Options that the package adds for small cloud machines and no reader's browser has: one process for everything, which
 * ends with the first closed page, and a renderer without a sandbox.
 */
const UNLIKE_A_READER = new RegExp(`^--(?:${[
  'single-process', 'disable-web-security', 'allow-running-insecure-content', 'disable-site-isolation-trials',
  'disable-features=.*site-per-process.*',
].join('|')})$`);
/**
 * The processor draws the pages: an emulated graphics card takes more time, and three processes wait for each other
 * more than one.
 */
const DRAWING = ['--disable-gpu', '--in-process-gpu', '--no-zygote', '--disable-background-networking'];

/**
 * Starts a browser that comes with the packages of the project. It downloads nothing, and nothing of the machine is
 * used but its fonts' place.
 */
export async function openBrowser(): Promise<Browser> {
  const home = await unpacked();
  chromium.setGraphicsMode = false;
  const executablePath = join(home, 'chromium');
  return driver.launch({
    executablePath,
    headless: true,
    args: [...chromium.args.filter((arg) => !UNLIKE_A_READER.test(arg)), ...DRAWING],
    env: {
      ...process.env as Record<string, string>, FONTCONFIG_FILE: join(home, 'fonts.conf'),
      ...libraryPath(executablePath, home),
    },
  });
}

/**
 * The package unpacks into the temporary folder, over files that another process may be using. Here each process has a
 * folder of its own, and the first one done is kept.
 */
async function unpacked(): Promise<string> {
  if (existsSync(HOME)) return HOME;
  mkdirSync(dirname(HOME), { recursive: true });
  const work = mkdtempSync(`${HOME}-`);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = work;
  try {
    await chromium.executablePath();
    await inflate(join(PACKAGE, 'bin', 'al2023.tar.br'));
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
  // The same fonts on every machine, so that layouts are equal.
  writeFileSync(
    join(work, 'fonts.conf'),
    `<?xml version="1.0"?>\n<fontconfig><dir>${HOME}/fonts</dir><cachedir>${HOME}/font-cache</cachedir></fontconfig>\n`,
  );
  try {
    renameSync(work, HOME);
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    if (!existsSync(HOME)) throw error;
  }
  return HOME;
}

/** A machine without a desktop lacks some libraries: the package brings those. */
function libraryPath(executablePath: string, home: string): Readonly<Record<string, string>> {
  const missing = execFileSync('ldd', [executablePath], { encoding: 'utf8' }).includes('not found');
  return missing ? { LD_LIBRARY_PATH: [join(home, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH']]
    .filter((path) => path !== undefined).join(':') } : {};
}

/**
 * Why the browser of the packages cannot run here: it exists for Linux with glibc on x64 alone. Where it should run and
 * does not, tests fail.
 */
export const WITHOUT_BROWSER = withoutBrowser();

function withoutBrowser(): string | undefined {
  const needed = 'the browser of the packages is for Linux with glibc on x64';
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `${needed}, this is ${process.platform} on ${process.arch}`;
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? `${needed}, this is Linux without glibc` : undefined;
}
