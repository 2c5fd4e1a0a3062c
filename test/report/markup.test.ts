import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonInPage, markup } from '../../src/report/markup.ts';

const HOSTILE = `</script><script>alert(1)</script><!-- " ' & \u202e \u0000`;

it('what is put into a template is text, and pieces stay pieces', () => {
  expect(markup`<p title="${HOSTILE}">${markup`<b>${'a<b'}</b>`}${[1, markup`<i>2</i>`]}${false}${undefined}${null}</p>`.markup)
    .toBe('<p title="&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &quot; &#39; &amp; \\u202e \\u0000"><b>a&lt;b</b>1<i>2</i></p>');
});

it('no text opens an element, ends an attribute or starts an entity', () => {
  fc.assert(fc.property(fc.string({
    unit: fc.constantFrom('<', '>', '&', '"', "'", '/', 'a', ';', '#', '\u202e', '\n', '-', '!'),
  }), (text) => {
    const { markup: escaped } = markup`${text}`;
    expect(escaped).not.toMatch(/[<>"']/);
    expect(escaped.replace(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
  }));
});

it('data in a page are the same data, and end no element', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const { markup: text } = jsonInPage({ value, hostile: HOSTILE });
    expect(text).not.toMatch(/[<>&\u2028\u2029]/);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ value, hostile: HOSTILE })));
  }));
});
