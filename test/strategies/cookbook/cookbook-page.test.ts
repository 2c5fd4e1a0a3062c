import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { strategyViolations } from '../../../src/config/strategies/code-rules.ts';
import { declarationFaults } from '../../../src/config/strategies/declaration-rules.ts';
import { PROJECT_DIR } from '../../../src/core/code-files.ts';
import type { Strategy } from '../../../src/strategy/define.ts';
import { COOKBOOK, cookbookPage, cookbookRecipes } from './page.ts';

const recipes = cookbookRecipes();
const tests = globSync('*.test.ts', { cwd: import.meta.dirname })
  .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('\n');

describe('the cookbook', () => {
  it('is the page that "npm run docs:cookbook" writes', () => {
    expect(readFileSync(COOKBOOK, 'utf8')).toBe(cookbookPage(recipes));
  });

  it('has at least 25 recipes, each with a title of its own', () => {
    expect(new Set(recipes.map(({ title }) => title)).size).toBe(recipes.length);
    expect(recipes.length).toBeGreaterThanOrEqual(25);
    expect(globSync('docs/strategies/recipes/**/*.ts', { cwd: PROJECT_DIR })).toHaveLength(recipes.length);
  });

  it.each(recipes)('$name is run by a test, keeps the rules of the code, and says all about itself', async (recipe) => {
    const { topic, name, file, why, code } = recipe;
    expect(tests).toContain(`'../../../docs/strategies/recipes/${topic}/${name}.ts'`);
    expect(why.match(/[.!](?=\s)/g)!.length).toBeGreaterThanOrEqual(2);
    expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(33);
    expect(code).not.toMatch(/from '(?!gannet'|gannet\/indicators'|rxjs'|zod')/);
    const { default: strategy } = await import(pathToFileURL(file).href) as { readonly default: Strategy };
    expect(await strategyViolations(file)).toEqual([]);
    expect(await declarationFaults(file, strategy)).toEqual([]);
  });
});
