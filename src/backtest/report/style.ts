/** The style sheet of a report: for a phone first, for dark and light, and for paper. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--bg:#fff;--text:#1b1f24;--soft:#5b6470;--rule:#d9dee4;--panel:#f5f7f9;--main:#0b62c4;--second:#a15c00;--third:#6b7480;--gain:#12703c;--loss:#b3261e;--warn:#7a4b00;--warnbg:#fff4dc}
@media (prefers-color-scheme:dark){:root{--bg:#12161b;--text:#e4e8ed;--soft:#a0aab5;--rule:#333b45;--panel:#1a2028;--main:#6cb0ff;--second:#f0b35e;--third:#8e99a6;--gain:#5fce8c;--loss:#ff8a80;--warn:#ffd58a;--warnbg:#33280f}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:60rem;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.1rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--rule);padding-bottom:.2rem}
p{margin:.4rem 0}.soft,.note,.none{color:var(--soft);font-size:.9rem}
.warnings{background:var(--warnbg);color:var(--warn);border-left:4px solid var(--warn);padding:.5rem .8rem;margin:1rem 0}
.warnings h2{border:0;margin:0}.warnings ul{margin:.3rem 0;padding-left:1.2rem}
.verdict{background:var(--panel);border-left:4px solid var(--main);padding:.5rem .8rem;margin:1rem 0}
.check{font-size:.9rem;color:var(--soft)}.check.good{color:var(--gain)}.check.bad{color:var(--loss);font-weight:bold}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem;min-width:50%}
th,td{text-align:right;padding:.2rem .6rem;border-bottom:1px solid var(--rule);vertical-align:top}
th:first-child,td:first-child{text-align:left;padding-left:0}thead th{color:var(--soft);font-weight:600}
td.text,th.text{text-align:left;min-width:8rem}
.gain{color:var(--gain)}.loss{color:var(--loss)}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.4rem;margin:.5rem 0;padding:0}
.figures div{background:var(--panel);padding:.4rem .6rem}.figures dt{color:var(--soft);font-size:.8rem}.figures dd{margin:0;font-variant-numeric:tabular-nums}
.chart{margin:1rem 0}figcaption{font-weight:600;font-size:.95rem}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.8rem;min-height:.5rem}
.legend .main::before,.legend .second::before,.legend .third::before,.legend .loss::before{content:"";display:inline-block;width:1.2em;border-top:3px solid currentColor;vertical-align:middle;margin-right:.3em}
.legend .main{color:var(--main)}.legend .second{color:var(--second)}.legend .third{color:var(--third)}.legend .entry{color:var(--gain)}.legend .exit{color:var(--loss)}
.legend .entry::before{content:"\\25CF\\00a0"}.legend .exit::before{content:"\\25CB\\00a0"}
.plot{position:relative;height:14rem;background:var(--panel);margin:.3rem 0 .2rem}
.plot svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.tick{position:absolute;left:.2rem;transform:translateY(-50%);font-size:.72rem;color:var(--soft);background:var(--panel);padding:0 .2rem;opacity:.85;font-variant-numeric:tabular-nums;line-height:1.2;pointer-events:none}
.times{display:flex;justify-content:space-between;font-size:.75rem;color:var(--soft)}
path{vector-effect:non-scaling-stroke;fill:none}
.grid{stroke:var(--rule);stroke-width:1}.axis{stroke:var(--soft);stroke-width:1}
.line{stroke-width:1.5;stroke-linejoin:round}.line.main{stroke:var(--main)}.line.second{stroke:var(--second);stroke-dasharray:6 3}.line.third{stroke:var(--third);stroke-dasharray:2 3}.line.loss{stroke:var(--loss)}
.fill{opacity:.18}.fill.main{fill:var(--main)}.fill.loss{fill:var(--loss)}
.spot{stroke-linecap:round;stroke-width:7}.spot.entry{stroke:var(--gain)}.spot.exit{stroke:var(--loss);stroke-width:9}.spot.hole{stroke:var(--panel);stroke-width:5}
.bars{display:flex;align-items:flex-end;gap:1px;height:10rem;background:var(--panel);padding:0 .2rem;margin:.3rem 0 .2rem}.bar{flex:1;min-width:1px}.bar.gain{background:var(--gain)}.bar.loss{background:var(--loss)}
code{font-size:.8rem;font-family:ui-monospace,monospace}
@media print{:root{color-scheme:light;--bg:#fff;--text:#000;--soft:#444;--rule:#bbb;--panel:#fff;--main:#0b62c4;--second:#a15c00;--third:#6b7480;--gain:#12703c;--loss:#b3261e;--warn:#000;--warnbg:#fff}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}body{max-width:none;padding:0;font-size:11pt}.chart,.figures div,tr{break-inside:avoid}h2{break-after:avoid}.wide{overflow:visible}.plot,.bars,.figures div{border:1px solid var(--rule)}}
`;
