import { createRequire } from 'node:module';
import type * as Arrow from 'apache-arrow';

// The values of apache-arrow, from the file in which the package bundles all of it. Each process of research, and each
// daemon, loads them: the 146 modules behind the package's name take more time than all of the recordings' own code.
// Types come from the package.

const arrow = createRequire(import.meta.url)('apache-arrow/Arrow.esnext.min') as typeof Arrow;

export const {
  AsyncByteQueue, Dictionary, Field, Float64, Int32, Int64, makeData, RecordBatch, RecordBatchReader,
  RecordBatchStreamWriter, Schema, Struct, Uint16, Uint32, Uint64, Utf8, Vector,
} = arrow;
