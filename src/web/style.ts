/**
 * The colours, each for light and dark. Green and red are for gains and losses alone, amber for what needs attention.
 * All texts have a contrast of at least 4.5 on all grounds.
 */
const COLOURS = `
:root{color-scheme:light dark;
--bg:light-dark(#ffffff,#0f1418);--panel:light-dark(#f4f6f8,#171d23);--raised:light-dark(#ffffff,#1d242b);
--text:light-dark(#161b20,#e7ebef);--soft:light-dark(#55606b,#a0abb6);--rule:light-dark(#dde2e7,#2a323b);
--main:light-dark(#0b5c8c,#63b4e4);--main-ground:light-dark(#e4f0f7,#15303f);--on-main:light-dark(#ffffff,#06212f);
--second:light-dark(#7b5aa6,#bda0e0);--third:light-dark(#66707b,#98a3ae);
--gain:light-dark(#08734a,#46c993);--loss:light-dark(#b92a20,#ff8577);
--warn:light-dark(#7a4b00,#ffcc6e);--warn-bg:light-dark(#fff3d9,#30260f);
--shade:light-dark(#161b2040,#00000080)}
:root[data-scheme=light],:root:has([name=theme][value=light]:checked){color-scheme:light}
:root[data-scheme=dark],:root:has([name=theme][value=dark]:checked){color-scheme:dark}`;

/** Spaces are multiples of 4 px; numbers have digits of equal width. */
const BASE = `
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,
"Open Sans",sans-serif;overflow-wrap:anywhere}
h1,h2,h3,p,figure,ul,ol,dl,dd{margin:0}ul,ol{padding:0;list-style:none}
h1,h2,h3{font-size:15px;font-weight:600;line-height:1.35}
a{color:var(--main);text-underline-offset:2px}
button,input,select{font:inherit;color:inherit}
button{cursor:pointer}
:focus-visible{outline:2px solid var(--main);outline-offset:2px}
[hidden]{display:none!important}
.unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.number{font-variant-numeric:tabular-nums;white-space:nowrap}
.unit,.soft{color:var(--soft)}.unit{font-weight:400}
.gain{color:var(--gain)}.loss{color:var(--loss)}
.button{min-height:36px;padding:4px 12px;border:1px solid var(--rule);border-radius:8px;background:var(--raised);
font-weight:500;white-space:nowrap}
.button:hover{border-color:var(--main)}.button[disabled]{color:var(--soft);cursor:default;border-color:var(--rule)}
.button.primary{background:var(--main);border-color:var(--main);color:var(--on-main)}
.field{min-height:36px;padding:4px 8px;border:1px solid var(--third);border-radius:8px;background:var(--raised)}
.choice{display:inline-flex;gap:2px;padding:2px;border-radius:8px;background:var(--panel)}
.choice button{min-height:28px;min-width:32px;padding:0 8px;border:0;border-radius:6px;background:none;
color:var(--soft);font-size:13px;white-space:nowrap}
.choice button[aria-pressed=true]{background:var(--raised);color:var(--text);font-weight:600;
box-shadow:0 0 0 1px var(--rule)}`;

/** What is in a chart itself takes its colours from the same names, by way of `chart-colours.ts`. */
const CHARTS = `
.time-chart{display:flex;flex-direction:column;min-width:0}
.chart-head{display:flex;flex-wrap:wrap;align-items:center;gap:4px 12px;margin-bottom:4px}
.chart-head .chart-title{font-weight:600}.chart-tools{display:flex;flex-wrap:wrap;gap:4px 8px;margin-left:auto}
.legend{display:flex;flex-wrap:wrap;gap:0 16px;font-size:13px;min-height:20px;color:var(--soft);
font-variant-numeric:tabular-nums}
.legend b{font-weight:600;color:var(--text)}.legend .swatch{display:inline-block;width:12px;height:0;
border-top:3px solid currentColor;border-radius:2px;vertical-align:middle;margin-right:6px}
.legend .swatch.dot{width:8px;height:8px;border:0;background:currentColor;border-radius:50%}
.legend .thin .swatch{border-top-width:1px}.legend .dotted .swatch{border-top-style:dotted}
.tone-main{color:var(--main)}.tone-second{color:var(--second)}.tone-third{color:var(--third)}
.tone-soft{color:var(--soft)}.tone-gain{color:var(--gain)}.tone-loss{color:var(--loss)}.tone-warn{color:var(--warn)}
.canvas{position:relative;height:var(--chart-height,320px);min-width:0;border-radius:8px;touch-action:pan-y}
.canvas .drawing-place{position:absolute;inset:0;overflow:hidden}
.canvas .chart-reader{position:absolute;inset:0;pointer-events:none;border-radius:8px}
.canvas .chart-reader:focus-visible{outline-offset:-2px}
.canvas .chart-empty{position:absolute;inset:0;display:grid;place-content:center;text-align:center;padding:16px;
color:var(--soft)}
.chart-foot{display:flex;flex-wrap:wrap;gap:0 16px;align-items:baseline;font-size:12px;color:var(--soft);
margin-top:4px}
.chart-foot details{flex:1 1 auto}.chart-foot details[open]{flex-basis:100%}
.chart-foot summary{cursor:pointer;min-height:24px;line-height:24px;width:max-content;max-width:100%}
.chart-foot a{color:inherit}
.spark{display:block;width:100%;height:32px;overflow:visible}
.spark path{fill:none;stroke:currentColor;stroke-width:1.5;vector-effect:non-scaling-stroke;stroke-linejoin:round}
.spark .spark-area{stroke:none;fill:currentColor;opacity:.12}`;

/** A table that is wider than its place scrolls within it; its first column stays. */
const TABLES = `
.table-tools{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:center;margin-bottom:8px;font-size:13px}
.table-tools .count{color:var(--soft);margin-left:auto}
.table-frame{position:relative;overflow-x:auto;max-width:100%}
.list{border-collapse:collapse;width:100%;font-size:14px}
.list th,.list td{padding:8px 12px;border-bottom:1px solid var(--rule);text-align:left;vertical-align:baseline;
overflow-wrap:break-word;
font-weight:400}
.list thead th{color:var(--soft);font-size:13px;white-space:nowrap;vertical-align:bottom;padding-top:4px;
padding-bottom:4px}
.list th:first-child,.list td:first-child{padding-left:0}.list th:last-child,.list td:last-child{padding-right:0}
.list .right{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.list tbody th{font-weight:500}
.list .sort{display:inline-flex;gap:4px;align-items:baseline;border:0;background:none;padding:4px 0;color:inherit;
white-space:nowrap}
.list .sort::after{content:"↕";opacity:.45;font-size:11px}
.list [aria-sort=ascending] .sort,.list [aria-sort=descending] .sort{color:var(--text);font-weight:600}
.list [aria-sort=ascending] .sort::after{content:"↑";opacity:1}
.list [aria-sort=descending] .sort::after{content:"↓";opacity:1}
.pager{display:flex;gap:8px;align-items:center;justify-content:flex-end;margin-top:8px;font-size:13px}
@media screen and (max-width:640px){.list th,.list td{padding:8px}.list .minor{display:none}}`;

/** The style that page and report share: colours, text, controls, charts and tables. */
export const SHARED_STYLE = `${COLOURS}${BASE}${CHARTS}${TABLES}\n`;
