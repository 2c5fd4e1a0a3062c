import { pluralize } from '../core/text.ts';
import type { Content } from './element.ts';
import { button, element, fill, setText } from './element.ts';

/** At most as many rows are shown at once. */
const ROWS_OF_A_PAGE = 120;
/** From as many rows on, a filter is offered. */
const FILTER_FROM = 8;

/** A column of a table that sorts. */
export interface TableColumn {
  readonly name: string;
  readonly isNumber?: boolean | undefined;
  /** The column is left out on a phone. */
  readonly isMinor?: boolean | undefined;
  /** Its cells hold buttons alone: nothing to sort by. */
  readonly isAction?: boolean | undefined;
}

/** A cell: what it shows, and what it is sorted by where that differs. */
export interface TableCell {
  readonly content: Content;
  readonly sort?: number | string | undefined;
}

/** A row. The row of the same key stays the same element while its cells are equal. */
export interface TableRow {
  readonly key: string;
  readonly cells: readonly (TableCell | string | number)[];
}

/** A table that is sorted by a press on a heading, filtered by a word, and paged. */
export interface DataTable {
  readonly element: HTMLElement;
  setRows(rows: readonly TableRow[]): void;
}

/** Returns a table for rows that change. It keeps its order, its filter and its page when they do. */
export function createDataTable({ label, columns, empty, pageRows }: {
  /** The content of the table, for screen readers. */
  readonly label: string;
  readonly columns: readonly TableColumn[];
  /** What stands there without rows. */
  readonly empty: string;
  /** How many rows are shown at once, 120 by default. */
  readonly pageRows?: number | undefined;
}): DataTable {
  const kind = ({ isNumber, isMinor }: TableColumn): string | undefined =>
    [isNumber === true ? 'right' : '', isMinor === true ? 'minor' : ''].join(' ').trim() || undefined;
  const head = element('tr', {}, columns.map((column) => element('th', { scope: 'col', class: kind(column) },
    column.isAction === true ? element('span', { class: 'unseen' }, column.name) : column.name)));
  const body = element('tbody');
  const frame = element('div', { class: 'table-frame' },
    element('table', { 'class': 'list', 'aria-label': label }, element('thead', {}, head), body));
  const none = element('p', { class: 'soft' }, empty);
  const holder = element('div', { class: 'data-table' }, frame, none);
  const control = controlTable(holder, columns.map(({ isAction }) => isAction !== true), pageRows);
  let shown = new Map<string, { readonly row: HTMLTableRowElement; readonly cells: TableRow['cells'] }>();
  return {
    element: holder,
    setRows: (rows) => {
      const next: typeof shown = new Map();
      for (const { key, cells } of rows) {
        const before = shown.get(key);
        next.set(key, before !== undefined && cells.every((cell, i) => isSameCell(cell, before.cells[i]))
          ? before : { row: rowOf(cells, columns, kind), cells });
      }
      shown = next;
      frame.hidden = rows.length === 0;
      none.hidden = rows.length > 0;
      control.setRows([...shown.values()].map(({ row }) => row));
    },
  };
}

/** Lets the rows of a table that is in the page already be sorted, filtered and paged. */
export function enhanceTable(holder: HTMLElement, pageRows?: number): void {
  const heads = [...holder.querySelectorAll('thead th')];
  const rows = [...holder.querySelectorAll<HTMLTableRowElement>('tbody tr')];
  controlTable(holder, heads.map(() => true), pageRows).setRows(rows);
}

function rowOf(
  cells: TableRow['cells'], columns: readonly TableColumn[], kind: (column: TableColumn) => string | undefined,
): HTMLTableRowElement {
  return element('tr', {}, cells.map((cell, i) => {
    const { content, sort } = typeof cell === 'object' ? cell : { content: cell };
    const attributes = { 'class': kind(columns[i]!), 'data-sort': sort };
    return i === 0 ? element('th', { scope: 'row', ...attributes }, content) : element('td', attributes, content);
  }));
}

function isSameCell(a: TableRow['cells'][number], b: TableRow['cells'][number] | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  return a.sort === b.sort && (a.content === b.content
    || (a.content instanceof Node && b.content instanceof Node && a.content.isEqualNode(b.content)));
}

/** Controls the table in an element: its headings sort, and a filter and a pager appear when the rows are many. */
function controlTable(holder: HTMLElement, sortable: readonly boolean[], pageRows = ROWS_OF_A_PAGE): {
  setRows(rows: readonly HTMLTableRowElement[]): void;
} {
  const table = holder.querySelector('table')!;
  const body = table.querySelector('tbody')!;
  const heads = [...table.querySelectorAll('thead th')];
  let all: readonly HTMLTableRowElement[] = [];
  let order: { readonly column: number; readonly isUp: boolean } | undefined;
  let page = 0;

  const filter = element('input', { 'type': 'search', 'class': 'field', 'aria-label': 'Filter rows',
    'placeholder': 'Filter' });
  const count = element('span', { 'class': 'count', 'role': 'status' });
  const tools = element('div', { class: 'table-tools', hidden: true }, filter, count);
  const place = element('span', {});
  const back = button('Back', () => { turn(-1); });
  const on = button('Next', () => { turn(1); });
  const pager = element('div', { class: 'pager', hidden: true }, place, back, on);
  holder.prepend(tools);
  holder.append(pager);

  const turn = (by: number): void => {
    page += by;
    show();
  };
  const show = (): void => {
    const word = filter.value.trim().toLowerCase();
    const matching = word === '' ? all : all.filter(({ textContent }) => textContent.toLowerCase().includes(word));
    const { column, isUp } = order ?? { column: 0, isUp: true };
    const sorted = order === undefined ? matching : matching.toSorted((a, b) =>
      compare(sortKey(a, column), sortKey(b, column)) * (isUp ? 1 : -1));
    const pages = Math.max(1, Math.ceil(sorted.length / pageRows));
    page = Math.max(0, Math.min(pages - 1, page));
    const rows = sorted.slice(page * pageRows, (page + 1) * pageRows);
    if (rows.length !== body.children.length || rows.some((row, i) => body.children[i] !== row))
      body.replaceChildren(...rows);
    tools.hidden = all.length < FILTER_FROM;
    pager.hidden = pages === 1;
    back.disabled = page === 0;
    on.disabled = page === pages - 1;
    setText(place, `page ${page + 1} of ${pages}`);
    const rowsInAll = pluralize(all.length, 'row');
    setText(count, word === '' ? rowsInAll : `${matching.length} of ${rowsInAll}`);
  };
  filter.addEventListener('input', () => {
    page = 0;
    show();
  });
  for (const [column, head] of heads.entries()) {
    if (sortable[column] !== true) continue;
    const press = button([...head.childNodes], () => {
      // A number is wanted from the largest on, a name from its first letter on.
      const isUp = order?.column === column ? !order.isUp : !head.classList.contains('right');
      order = { column, isUp };
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', isUp ? 'ascending' : 'descending');
      page = 0;
      show();
    }, { class: 'sort' });
    fill(head, press);
  }
  return {
    setRows: (rows) => {
      all = rows;
      show();
    },
  };
}

function sortKey(row: HTMLTableRowElement, column: number): number | string {
  const cell = row.cells[column];
  const text = cell?.getAttribute('data-sort') ?? cell?.textContent ?? '';
  const number = Number(text.replaceAll(',', '').replace('−', '-').replace(/\s*%$/, ''));
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

/** Numbers come before texts. */
function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number') return -1;
  if (typeof b === 'number') return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
