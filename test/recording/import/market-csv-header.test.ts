import { describe, expect, it } from 'vitest';
import { headerOf } from '../../../src/recording/import/market-csv-header.ts';

const read = (header: string, map: Readonly<Record<string, string>> = {}): readonly (string | undefined)[] =>
  headerOf({ file: 'market.csv', row: 1, cells: header.split(',') }, new Map(Object.entries(map)));

/** Returns what is said of a header after what was expected of it. */
function refusal(header: string, map: Readonly<Record<string, string>> = {}): string {
  try {
    return `taken: ${read(header, map).join()}`;
  } catch (error) {
    return (error as Error).message.replace(/^market\.csv:1: (?:expected the columns .* which column is which; )?/, '');
  }
}

describe('the header of candles or quotes', () => {
  it.each([
    ['time,open,high,low,zclose,volume', 'close missing: perhaps --map zclose=close'],
    ['time,open,high,low', 'close missing'],
    [
      'Time,Open,High,Low,Close,Volume',
      'time, open, high, low, close missing: perhaps --map Time=time --map Open=open --map High=high --map Low=low '
        + '--map Close=close',
    ],
    ['time,open,high,low,Closing,CLOSE', 'close missing: perhaps --map CLOSE=close'],
    ['time,open,high,low,the close', 'close missing'],
    ['time,open,high,low,a close', 'close missing: perhaps --map "a close=close"'],
    ['time,close,price', 'open, high, low missing'],
    ['time,input_mint,output_mint,in_amount,amount_out', 'out_amount missing'],
    [
      'time,input,output_mint,in_amount,outamount',
      'input_mint, out_amount missing: perhaps --map outamount=out_amount',
    ],
    ['when,input_mint,output_mint,in_amount,out_amount', 'time missing'],
    ['time,price', 'found time,price'],
    ['a,b', 'found a,b'],
  ])('%s is reported with the missing columns of the nearest form', (header, said) => {
    expect(refusal(header)).toBe(said);
  });

  it('treats a column as the field to which it is mapped', () => {
    expect(refusal('date,open,high,low,last', { date: 'time' })).toBe('close missing');
    expect(read('date,open,high,low,last', { date: 'time', last: 'close' }))
      .toEqual(['time', 'open', 'high', 'low', 'close']);
  });

  it('has one form: columns of the other form are ignored', () => {
    expect(read('time,input_mint,output_mint,in_amount,out_amount,close,volume'))
      .toEqual(['time', 'input_mint', 'output_mint', 'in_amount', 'out_amount', undefined, undefined]);
    expect(read('time,open,high,low,close,in_amount')).toEqual(['time', 'open', 'high', 'low', 'close', undefined]);
  });

  it('refuses a field that appears twice', () => {
    expect(refusal('time,open,high,low,close,close')).toBe('two columns are close');
  });
});
