/** The part of a browser's document that the scripts of a page need. */
export interface PageDocument {
  getElementById(id: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}

export interface PageElement {
  textContent: string | null;
  className: string;
  hidden: boolean;
  readonly style: { setProperty(name: string, value: string): void };
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  getBoundingClientRect(): { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
  addEventListener(type: string, listener: (event: PageEvent) => void): void;
}

export interface PageEvent {
  readonly clientX: number;
  readonly clientY: number;
  readonly key: string;
  preventDefault(): void;
}
