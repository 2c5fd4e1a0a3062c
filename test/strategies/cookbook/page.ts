import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';

/** The folder of the page, from the project's folder; the recipes are beside it. */
const PAGE_DIR = 'docs/strategies';

/** The file of the page. */
export const COOKBOOK = join(PROJECT_DIR, PAGE_DIR, 'cookbook.md');

const TOPICS = {
  entries: 'Entries', exits: 'Exits', sizes: 'Sizes', orders: 'Orders', data: 'Data', operations: 'Operations',
} as const;

type Topic = keyof typeof TOPICS;

const HEADER = `# Cookbook

<!-- Written by "npm run docs:cookbook" from the files of docs/strategies/recipes. -->

Each recipe is a complete strategy that shows one technique. Copy its file into your project and change it. A test runs
each of them as [testing.md](../testing.md) describes. They are no strategies to earn by: their conditions are only as
long as the technique needs. [strategies.md](../strategies.md) explains the calls, and [the catalogue](catalogue.md) has
strategies to use as they are.
`;

/** A strategy that shows one technique. */
interface Recipe {
  readonly topic: Topic;
  readonly name: string;
  /** The file, absolute. */
  readonly file: string;
  /** What an author wants to do. */
  readonly title: string;
  /** Why, and what to mind. */
  readonly why: string;
  readonly code: string;
}

/** Returns the recipes by topic and title. Throws where a file does not begin with its title and text. */
export function cookbookRecipes(): Recipe[] {
  return Object.keys(TOPICS).flatMap((topic) =>
    globSync(`${PAGE_DIR}/recipes/${topic}/*.ts`, { cwd: PROJECT_DIR }).map((path) => recipeOf(topic as Topic, path))
      .toSorted((a, b) => (a.title < b.title ? -1 : 1)));
}

function recipeOf(topic: Topic, path: string): Recipe {
  const file = join(PROJECT_DIR, path);
  const match = /^\/\/ (.+)\n\/\/\n((?:\/\/ .+\n)+)(import [^]+)$/.exec(readFileSync(file, 'utf8'));
  if (match === null) throw new Error(`${path}: expected a title, an empty line, a text and imports`);
  const [, title = '', why = '', code = ''] = match;
  const name = path.slice(path.lastIndexOf('/') + 1, -'.ts'.length);
  return { topic, name, file, title, why: why.replaceAll(/^\/\/ /gm, ''), code };
}

/** Returns the page. */
export function cookbookPage(recipes: readonly Recipe[]): string {
  const topics = Object.entries(TOPICS).map(([topic, heading]) => ({
    heading, own: recipes.filter((recipe) => recipe.topic === topic),
  }));
  const index = topics.map(({ heading, own }) =>
    `| ${heading} | ${own.map(({ title }) => `[${title}](#${anchorOf(title)})`).join('<br>')} |`);
  return [
    HEADER, '| topic | recipes |', '|---|---|', ...index, '',
    ...topics.flatMap(({ heading, own }) => [`## ${heading}\n`, ...own.map(sectionOf)]),
  ].join('\n');
}

function sectionOf({ topic, name, title, why, code }: Recipe): string {
  return `### ${title}\n\n${why}\n[\`${name}.ts\`](recipes/${topic}/${name}.ts):\n\n\`\`\`ts\n${code}\`\`\`\n`;
}

function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9 -]/g, '').replaceAll(' ', '-');
}
