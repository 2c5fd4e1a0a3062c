const WIDTH = 100;
const HEIGHT = 32;
const ROOM = 2;
const SVG = 'http://www.w3.org/2000/svg';

/** Returns the paths of a small line without axes in 100 by 32, and of the area under it; empty below two values. */
function sparkPaths(values: readonly number[]): { readonly line: string; readonly area: string } {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length < 2) return { line: '', area: '' };
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const range = high - low || 1;
  const places = known.map((value, i) => {
    const across = (i / (known.length - 1)) * WIDTH;
    const down = high === low ? HEIGHT / 2 : ROOM + (1 - (value - low) / range) * (HEIGHT - 2 * ROOM);
    return `${across.toFixed(1)} ${down.toFixed(1)}`;
  });
  const line = `M${places.join('L')}`;
  return { line, area: `${line}V${HEIGHT}H0Z` };
}

/** Returns a small line without axes. It repeats what a figure beside it says, so screen readers skip it. */
export function sparkline(values: readonly number[]): SVGSVGElement {
  const drawing = document.createElementNS(SVG, 'svg');
  drawing.setAttribute('class', 'spark');
  drawing.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  drawing.setAttribute('preserveAspectRatio', 'none');
  drawing.setAttribute('aria-hidden', 'true');
  const { line, area } = sparkPaths(values);
  for (const [name, path] of [['spark-area', area], ['spark-line', line]] as const) {
    const shape = document.createElementNS(SVG, 'path');
    shape.setAttribute('class', name);
    shape.setAttribute('d', path);
    drawing.append(shape);
  }
  return drawing;
}
