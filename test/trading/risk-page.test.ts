import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DENIALS } from '../../src/trading/limits.ts';
import { DEFAULT_PROTECTIONS, PROTECTIONS, protectionFault } from '../../src/trading/protections/catalogue.ts';
import { riskPage } from './risk-page.ts';

describe('docs/risk.md', () => {
  const page = readFileSync(new URL('../../docs/risk.md', import.meta.url), 'utf8');

  it('equals the page generated from the tables', () => {
    expect(page === riskPage(), 'run: npm run docs:risk').toBe(true);
  });

  it('has a row for every code and every kind of protection', () => {
    for (const name of [...Object.keys(DENIALS), ...Object.keys(PROTECTIONS)])
      expect(page).toContain(`| \`${name}\` |`);
  });
});

describe('the codes', () => {
  it('are named by subject and fault', () => {
    for (const code of Object.keys(DENIALS)) expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)+$/);
  });

  it('are unique for each kind of protection', () => {
    const codes = Object.values(PROTECTIONS).map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    for (const code of codes) expect(DENIALS[code].category).toBe('protection');
  });
});

describe('the default protections', () => {
  it('are valid', () => {
    expect(DEFAULT_PROTECTIONS.map(protectionFault).filter((fault) => fault !== undefined)).toEqual([]);
  });

  it('halt nothing, so that exits stay possible', () => {
    expect(DEFAULT_PROTECTIONS.filter(({ action }) => action === 'halt')).toEqual([]);
  });
});
