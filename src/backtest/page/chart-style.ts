const COLOURED = ['main', 'second', 'third', 'gain', 'loss'] as const;

/** The part of a page's style sheet that drawings need. */
export const CHART_STYLE = `
.chart,.heat-map{margin:1.2rem 0}figcaption{font-weight:600}
.chart{container-type:inline-size}
.key{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.8rem;min-height:1.5em;margin:.1rem 0 .35rem}.key .when{color:var(--soft);font-variant-numeric:tabular-nums}.key .item{color:var(--text)}.key .value{font-variant-numeric:tabular-nums}
.key .item::before{content:"";display:inline-block;width:1.1em;border-top:3px solid;vertical-align:middle;margin-right:.4em}
${COLOURED.map((name) => `.key .${name}::before{border-color:var(--${name})}`).join('')}.key .second::before{border-top-width:1.5px}.key .third::before{border-top-style:dotted}
.key .entry::before,.key .exit::before{width:.6em;height:.6em;border-radius:50%;border:2px solid var(--gain);background:var(--gain)}.key .exit::before{border-color:var(--loss);background:none}
.key .bare::before{display:none}.key .gap::before{width:1em;height:.8em;border:0;background:var(--soft);opacity:.35}
.plot{display:grid;grid-template-columns:auto 1fr;column-gap:.4rem;font-size:.75rem;color:var(--soft);font-variant-numeric:tabular-nums}
.y-axis{display:flex;flex-direction:column;justify-content:space-between;text-align:right;white-space:nowrap}.y-axis span{line-height:1;margin:-.5em 0}
.drawing{position:relative;height:15rem;background:var(--panel);border-left:1px solid var(--soft);border-bottom:1px solid var(--soft)}
.drawing svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.x-axis{grid-column:2;position:relative;height:1.7em}
.tick{position:absolute;top:.45em;transform:translateX(-50%);white-space:nowrap;line-height:1.2}.tick.first{transform:none}.tick.last{transform:translateX(-100%)}
.tick::before{content:"";position:absolute;top:-.45em;left:50%;height:.35em;border-left:1px solid var(--soft)}.tick.first::before{left:0}.tick.last::before{left:calc(100% - 1px)}
@container (max-width:34rem){.minor{display:none}}
.chart path{vector-effect:non-scaling-stroke;fill:none}
.grid{stroke:var(--rule);stroke-width:1}.zero{stroke:var(--soft);stroke-width:1.5}
.line{stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}.line.main{stroke-width:2}${COLOURED.map((name) => `.line.${name}{stroke:var(--${name})}`).join('')}.fill+.line{stroke-width:1}.line.second{stroke-width:1.3}.line.third{stroke-dasharray:1.5 3.5}
.chart path.fill{opacity:.18}.chart path.fill.main{fill:var(--main)}.chart path.fill.loss{fill:var(--loss)}
rect.gap{fill:var(--soft);opacity:.22}
rect.bar{stroke:var(--panel);stroke-width:1;vector-effect:non-scaling-stroke}rect.bar.gain{fill:var(--gain)}rect.bar.loss{fill:var(--loss)}
.spot{stroke-linecap:round;stroke-width:8}.spot.main{stroke:var(--main)}.spot.entry{stroke:var(--gain)}.spot.exit{stroke:var(--loss);stroke-width:9}.chart path.spot.hole{stroke:var(--panel);stroke-width:5}
.spot.many{stroke-width:5}.spot.exit.many{stroke-width:6}.chart path.spot.hole.many{stroke-width:3}
.reader{position:absolute;inset:0;touch-action:pan-y;cursor:crosshair}.reader:focus-visible{outline-offset:0}
.cursor{position:absolute;top:0;bottom:0;border-left:1px solid var(--text);pointer-events:none}.dot{position:absolute;width:9px;height:9px;margin:-4.5px;border:2px solid var(--bg);border-radius:50%;background:var(--text);pointer-events:none}
[hidden]{display:none}`;
