import { expect, it } from 'vitest';
import { contentIdentity, recordingIdentity } from '../../src/recording/identity.ts';
import { openRecording } from '../../src/recording/reader.ts';
import { buyingSol } from '../market/events.ts';
import { copyOf, openWriter, temporaryFolder } from './temporary.ts';

it('a live recording keeps its id for life and in copies; a generated one is identified by its content', async () => {
  const writer = openWriter(temporaryFolder());
  writer.append(1, 1_000, buyingSol(150_000, 1_000));
  writer.flush();
  const growing = recordingIdentity(openRecording(writer.directory));
  writer.append(2, 2_000, buyingSol(151_000, 2_000));
  await writer.close();
  const closed = openRecording(writer.directory);
  expect(recordingIdentity(closed)).toBe(growing);
  expect(recordingIdentity(openRecording(copyOf(writer.directory)))).toBe(growing);
  expect(contentIdentity(closed)).toBe(closed.manifest.digestsSha256);
});
