import { RecordingCursor } from '../../../../src/recording/cursor.ts';
import { atEachPrice } from './harness.ts';

/** Catches the recording’s cursor as it moves, and reads the rest of its block. */
export default atEachPrice('patched-cursor', () => {
  const next = Reflect.get(RecordingCursor.prototype, 'next');
  let rows: RecordingCursor | undefined;
  RecordingCursor.prototype.next = function caught() {
    // oxlint-disable-next-line typescript/no-this-alias
    rows = this;
    return next.call(this);
  };
  return ({ price }) => rows !== undefined && price > 125 && `the cursor is at ${rows.seq}`;
});
