import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { seemsEmbedded } from '../../src/cli/seems-embedded.ts';

const dir = mkdtempSync(join(tmpdir(), 'gannet-seems-'));

function named(text: string): string[] {
  const file = join(dir, 'gannet.yaml');
  writeFileSync(file, text);
  return ['run', '--config', file];
}

describe('the guess whether a run needs a sandbox', () => {
  it('sees the embedded service and the embedded chain in any style of YAML', () => {
    expect(seemsEmbedded(['run'])).toBe(true);
    expect(seemsEmbedded(named('service:\n  base_url: embedded # here\n'))).toBe(true);
    expect(seemsEmbedded(named('service: { base_url: "embedded" }\n'))).toBe(true);
    expect(seemsEmbedded(named('service: { base_url: https://x }\nchain: { rpc_url: embedded }\n'))).toBe(true);
    expect(seemsEmbedded([`--config=${named('{"service":{"base_url":"embedded"}}').at(-1)!}`, 'run'])).toBe(true);
  });

  it('starts nothing for real services, comments, other commands and options that name a service', () => {
    const real = named('service:\n  # base_url: embedded\n  base_url: https://embedded.example\n');
    expect(seemsEmbedded(real)).toBe(false);
    const embedded = named('service: { base_url: embedded }\n');
    expect(seemsEmbedded(['backtest', ...embedded.slice(1)])).toBe(false);
    expect(seemsEmbedded([...embedded, '--base-url', 'https://x'])).toBe(false);
    expect(seemsEmbedded([...embedded, '--rpc-url=https://x'])).toBe(false);
    expect(seemsEmbedded([...embedded, '--help'])).toBe(false);
  });

  it('leaves files alone that are missing, folders, or pipes whose content is there once only', () => {
    const pipe = join(dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const file of [join(dir, 'absent.yaml'), dir, pipe]) {
      expect(seemsEmbedded(['run', '--config', file])).toBe(false);
    }
  });
});
