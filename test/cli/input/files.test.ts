import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { recordingCommand } from '../../../src/cli/commands/recording/recording.ts';
import { ensureWritable, refuseImpossibleFolder } from '../../../src/cli/input/files.ts';
import { runCommand } from '../in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'gannet-places-'));
afterAll(() => { rmSync(folder, { recursive: true }); });

describe('an output path', () => {
  it('is created with its parents, and refused before the work when it cannot be written', () => {
    const file = join(folder, 'new', 'report.html');
    ensureWritable(file, '--report');
    expect([existsSync(join(folder, 'new')), existsSync(file)]).toEqual([true, false]);
    mkdirSync(file);
    expect(() => { ensureWritable(file, '--report'); }).toThrow(expect.objectContaining({
      code: 'USAGE', message: `--report ${file} cannot be written: it is a folder; name another file`,
    }) as Error);
    writeFileSync(join(folder, 'file'), '');
    expect(() => { ensureWritable(join(folder, 'file', 'report.html'), '--report'); })
      .toThrow(/cannot be written: .*(?:file, not a folder|file already exists)/);
  });

  it.skipIf(process.platform === 'win32')('is refused when a device or a pipe would be replaced', () => {
    expect(() => { ensureWritable('/dev/null', '--report'); })
      .toThrow('--report /dev/null cannot be written: it is a pipe or a device; name another file');
  });

  it.skipIf(process.platform !== 'linux')('is refused when creating it would never end', async () => {
    expect(() => { refuseImpossibleFolder('/proc/x/y', '--state-dir'); }).toThrow(expect.objectContaining({
      code: 'USAGE', message: '--state-dir /proc/x/y cannot be created: /proc takes no folders; name another place',
    }) as Error);
    expect(() => { ensureWritable('/proc/report.html', '--report'); }).toThrow('/proc takes no files');
    await expect(runCommand(
      recordingCommand, ['recording', 'generate', '--days', '0.01', '--out', '/proc/x'], { stateDir: folder },
    )).rejects.toMatchObject({ code: 'USAGE' });
    refuseImpossibleFolder(join(folder, 'not', 'there', 'yet'), '--state-dir');
  });

  it('is named when a file cannot be read', async () => {
    const missing = join(folder, 'missing.csv');
    await expect(runCommand(recordingCommand, ['recording', 'import', missing], { stateDir: folder }))
      .rejects.toMatchObject({ code: 'USAGE', message: `${missing} cannot be read: there is no such file` });
    await expect(runCommand(recordingCommand, ['recording', 'import', folder], { stateDir: folder }))
      .rejects.toMatchObject({ message: `${folder}: expected a file or a pipe, got a folder` });
  });
});

describe('help', () => {
  it('shows defaults in the form of an argument', () => {
    const program = new Command();
    recordingCommand(program, () => () => Promise.resolve());
    const help = program.commands[0]!.commands.find((command) => command.name() === 'generate')!.helpInformation();
    expect(help.replace(/\s+/g, ' ')).toContain('the time between two polls of a quote (default: 10s)');
    expect(help).not.toMatch(/default: \d{4,}\b/);
  });
});
