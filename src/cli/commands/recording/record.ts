import { basename, dirname, resolve } from 'node:path';
import type { CommandContext, CommandModule } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { refuseImpossibleFolder } from '../../input/files.ts';
import { durationFlag } from '../../input/flags.ts';
import { openConfigured } from '../../input/service-request.ts';
import { bytesText } from '../../output/figures.ts';
import type { RunConfig } from '../../../config/run-config.ts';
import { GannetError } from '../../../core/errors.ts';
import { seededRandom } from '../../../core/random.ts';
import { pluralize } from '../../../core/text.ts';
import type { Millis } from '../../../core/time.ts';
import type { Connections } from '../../../daemon/run/connections.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { Engine } from '../../../engine/engine.ts';
import { originOf, sharedFeeds } from '../../../market/feed.ts';
import type { RecordingManifest } from '../../../recording/manifest.ts';
import type { RecordingWriter } from '../../../recording/writer.ts';
import { createRecordingWriter } from '../../../recording/writer.ts';
import { createFeeds } from '../../../service/feeds/feeds.ts';

interface RecordFlags {
  readonly duration?: Millis;
  readonly out?: string;
}

export const recordCommand: CommandModule = (program, run) => {
  program.command('record')
    .description('records the feeds that the configured strategies watch, without running them')
    .option('--duration <duration>', 'ends after this time, such as 1h (default: when interrupted)', durationFlag)
    .option(
      '--out <dir>',
      'the folder of the recording; it must not exist yet (default: a new one in recording.dir)',
    )
    .action(run(async (context: CommandContext, flags: RecordFlags) => {
      const { terminal } = context;
      if (flags.out !== undefined) refuseImpossibleFolder(flags.out, '--out');
      const { loaded: { config }, connections } = await openConfigured(context, 'read', { strategies: true });
      try {
        const done = await record(context, flags, { config, connections });
        terminal.result(done, () =>
          `  ${pluralize(done.events, 'event')} in ${bytesText(done.bytes)}\n  ${done.recording}\n`);
        return EXIT.done;
      } finally {
        await connections.close();
      }
    }));
};

async function record({ terminal, interrupt }: CommandContext, flags: RecordFlags, { config, connections }: {
  readonly config: RunConfig; readonly connections: Connections;
}): Promise<{ readonly recording: string; readonly events: number; readonly bytes: number }> {
  const specs = sharedFeeds(Engine.feedsOf(config.strategies));
  if (specs.length === 0) throw new GannetError(
    'CONFIG_INVALID',
    `${config.file}: expected strategies with inputs to record, found none: add a strategy`,
  );
  const ended = Promise.withResolvers<void>();
  const writer = createRecordingWriter({
    ...placeOf(flags.out, config.recording.dir), clock: systemClock, tokens: config.tokens.all,
    onError: (error: GannetError) => { ended.reject(error); },
  });
  const end = (): void => { ended.resolve(); };
  interrupt.addEventListener('abort', end, { once: true });
  if (interrupt.aborted) end();
  const timer = flags.duration === undefined ? undefined : systemClock.schedule(end, flags.duration);
  void connections.sandbox?.exited.then((code) => {
    ended.reject(new GannetError('SANDBOX_FAILED', `the embedded service ended with code ${code} while it was in use`));
  });
  let seq = 0;
  let at: Millis = 0;
  const feeds = createFeeds({
    service: connections.service, node: connections.chain, specs, clock: systemClock,
    random: seededRandom(`${config.seed}:feeds`),
  });
  const subscription = feeds.events$.subscribe({
    next: (event) => {
      // A clock that is set back must not reverse the order of events.
      at = Math.max(at, systemClock.now(), event.receivedAt);
      writer.append(++seq, at, event);
    },
    error: (error: unknown) => { ended.reject(error instanceof Error ? error : new Error(String(error))); },
  });
  if (specs.some((spec) => originOf(spec) === 'webhook'))
    terminal.err('  signals reach a run alone: they are not recorded here\n');
  if (!terminal.json)
    terminal.err(`  recording ${pluralize(specs.length, 'feed')} into ${writer.directory}; Ctrl-C ends it\n`);
  let files: RecordingManifest['files'] = [];
  try {
    await ended.promise;
  } finally {
    subscription.unsubscribe();
    timer?.unsubscribe();
    interrupt.removeEventListener('abort', end);
    files = await closed(writer);
  }
  return {
    recording: writer.directory,
    events: files.reduce((sum, { events }) => sum + events, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Closes a recording. A failed write has already been reported, and ends the command. */
async function closed(writer: RecordingWriter): Promise<RecordingManifest['files']> {
  if (!writer.stats().failed) return (await writer.close()).files;
  return writer.close().then(({ files }) => files, () => []);
}

function placeOf(out: string | undefined, dir: string): { readonly dir: string; readonly name?: string | undefined } {
  return out === undefined ? { dir } : { dir: dirname(resolve(out)), name: basename(resolve(out)) };
}
