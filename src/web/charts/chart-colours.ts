import { element } from '../element.ts';

/** The names of colours that charts take from the style of the page. */
const NAMES = ['bg', 'text', 'soft', 'rule', 'main', 'second', 'third', 'gain', 'loss', 'warn'] as const;

/** The colours of the page as a chart takes them. */
export type ChartColours = Readonly<Record<(typeof NAMES)[number], string>>;

/** Returns the colours of the page as they are now, each as `rgb(…)`. */
export function pageColours(): ChartColours {
  const probe = element('span', { hidden: true });
  document.body.append(probe);
  const colours = NAMES.map((name) => {
    probe.style.setProperty('color', `var(--${name})`);
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as Record<(typeof NAMES)[number], string>;
}

/** Returns a colour with a part of its strength. */
export function faded(colour: string, strength: number): string {
  const [red = '0', green = '0', blue = '0'] = colour.match(/[\d.]+/g) ?? [];
  return `rgba(${red}, ${green}, ${blue}, ${strength})`;
}

/** Calls back when the colours of the page change: with the device, or by a choice on the page. Returns its end. */
export function onSchemeChange(changed: () => void): () => void {
  const device = matchMedia('(prefers-color-scheme: dark)');
  const choice = new MutationObserver(changed);
  choice.observe(document.documentElement, { attributeFilter: ['data-scheme'] });
  const chosen = ({ target }: Event): void => {
    if (target instanceof HTMLInputElement && target.name === 'theme') changed();
  };
  device.addEventListener('change', changed);
  document.addEventListener('change', chosen);
  return () => {
    choice.disconnect();
    device.removeEventListener('change', changed);
    document.removeEventListener('change', chosen);
  };
}
