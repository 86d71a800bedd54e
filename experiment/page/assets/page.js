'use strict';
// Draws the charts of a report. The data are in the element #data; the tables contain the same data.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const places = [...document.querySelectorAll('.plot')];
  if (!places.length) return;
  let style, inks = {}; // the colours of light or dark mode
  const ink = (name) => inks[name] ??= style.getPropertyValue('--' + name).trim();
  let plots = [];

  const text = (v) => {
    if (v == null) return '–';
    const a = Math.abs(v);
    return v.toLocaleString('en', {maximumFractionDigits: a >= 1000 ? 0 : a >= 100 ? 1 : a >= 10 ? 2 : 3});
  };
  const mean = (ys) => {
    let sum = 0, n = 0;
    for (const y of ys) if (y != null) { sum += y; n++; }
    return n ? sum / n : null;
  };
  const seconds = (s) => s >= 3600 ? Math.floor(s / 3600) + ':' + String(Math.floor(s / 60) % 60).padStart(2, '0') + ':' + String(Math.floor(s % 60)).padStart(2, '0')
    : String(Math.floor(s / 60)).padStart(2, '0') + ':' + String(+(s % 60).toFixed(3)).padStart(2, '0');

  // Marks: a dashed line at each change, with its number if there is room.
  const marks = (u) => {
    const c = u.ctx, px = devicePixelRatio;
    c.save();
    c.beginPath();
    c.rect(u.bbox.left, 0, u.bbox.width, u.bbox.top + u.bbox.height);
    c.clip();
    c.strokeStyle = c.fillStyle = ink('i7');
    c.setLineDash([3 * px, 3 * px]);
    c.lineWidth = px;
    c.font = 11 * px + 'px system-ui, sans-serif';
    c.textAlign = 'center';
    let last = -1e9;
    data.marks.forEach((m, i) => {
      const x = Math.round(u.valToPos(m.t, 'x', true));
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
      c.beginPath();
      c.moveTo(x, u.bbox.top);
      c.lineTo(x, u.bbox.top + u.bbox.height);
      c.stroke();
      if (x - last > 14 * px) {
        c.fillText(i + 1, Math.max(x, u.bbox.left + 6 * px), u.bbox.top - 3 * px);
        last = x;
      }
    });
    c.restore();
  };

  // Describes what is under the cursor: a packet, a change, a point of a sweep.
  const say = (u, chart) => {
    const out = u.root.closest('section').querySelector('.note');
    const at = u.cursor.idx;
    if (at == null) return;
    let words = '';
    if (chart.notes && chart.notes[at]) words = chart.notes[at];
    if (chart.marked) {
      const t = u.posToVal(u.cursor.left, 'x'), reach = 5 * (u.scales.x.max - u.scales.x.min) / u.over.clientWidth;
      const near = data.marks.findIndex((m) => Math.abs(m.t - t) <= reach);
      if (near >= 0) words = 'Mark ' + (near + 1) + ', ' + seconds(data.marks[near].t) + ': ' + data.marks[near].text + (words && '. ') + words;
    }
    if (words) out.textContent = words;
  };

  const dots = (u, seriesIdx) => {
    const s = u.series[seriesIdx], xs = u.data[0], ys = u.data[seriesIdx], c = u.ctx, r = 3.2 * devicePixelRatio;
    c.save();
    c.fillStyle = typeof s.stroke === 'function' ? s.stroke(u, seriesIdx) : s.stroke;
    c.globalAlpha = 0.8;
    for (let i = 0; i < xs.length; i++) {
      if (ys[i] == null || xs[i] < u.scales.x.min || xs[i] > u.scales.x.max) continue;
      c.beginPath();
      c.arc(u.valToPos(xs[i], 'x', true), u.valToPos(ys[i], 'y', true), r, 0, 7);
      c.fill();
    }
    c.restore();
    return null;
  };

  // The band around a line as text.
  const between = (chart, i, at) => {
    const hi = chart.lines[i + 1], lo = chart.lines[i + 2];
    if (!lo || hi.kind !== 'edge' || lo.kind !== 'edge' || lo.y[at] == null || hi.ink !== chart.lines[i].ink) return '';
    return ' (' + text(lo.y[at]) + ' to ' + text(hi.y[at]) + ')';
  };

  // Rare spikes would flatten the rest: unless zoomed in, the scale of such a chart ends at chart.top,
  // and an arrow with the value marks each spike. Values at loop points of the recording never set the scale;
  // ↻ marks the loop points.
  const beyond = (u, chart) => {
    const top = u.scales.y.max, c = u.ctx, px = devicePixelRatio;
    c.save();
    c.fillStyle = ink('dim');
    c.font = 11 * px + 'px system-ui, sans-serif';
    const peaks = [];
    const lines = chart.lines.filter((l) => l.kind !== 'edge');
    u.data[0].forEach((x, i) => {
      let most = 0;
      for (const l of lines) if (l.y[i] > most) most = l.y[i];
      if (most <= top || x < u.scales.x.min || x > u.scales.x.max) return;
      const at = u.valToPos(x, 'x', true), last = peaks[peaks.length - 1], loop = chart.loops?.includes(i);
      if (last && at - last.at < 60 * px) { if (most > last.most) Object.assign(last, {most, loop}); } else peaks.push({at, most, loop});
    });
    for (const p of peaks) {
      const right = p.at > u.bbox.left + u.bbox.width - 70 * px;
      c.textAlign = right ? 'right' : 'left';
      c.fillText((p.loop ? '↻ ' : '▲ ') + text(p.most), p.at + (right ? -4 : 4) * px, u.bbox.top + 11 * px);
    }
    c.textAlign = 'center';
    for (const i of chart.loops ?? []) {
      const x = u.data[0][i];
      if (!chart.loops.includes(i - 1) && x >= u.scales.x.min && x <= u.scales.x.max) c.fillText('↻', u.valToPos(x, 'x', true), u.bbox.top - 3 * px);
    }
    c.restore();
  };

  // The highest value between two X values, without those at loop points and in the first second, null if there is none.
  const highest = (xs, chart, loops, from, to) => {
    let most = null;
    xs.forEach((x, i) => {
      if (loops.has(i) || i < chart.settle || x < from || x > to) return;
      for (const l of chart.lines) if (l.y[i] != null && !(l.y[i] <= most)) most = l.y[i];
    });
    return most;
  };

  // Steps of an axis whose values are whole.
  const steps = [...Array(12).keys()].flatMap((p) => [1, 2, 5].map((k) => k * 10 ** p));
  const whole = (vs) => vs.every((v) => v == null || Number.isInteger(v));

  const faded = (color) => color + '33';

  const groupOf = (chart) => chart.axis === 's' ? 's' : chart.x;

  const draw = (place, width) => {
    const chart = data.charts[place.dataset.chart], xs = data.x[chart.x], group = groupOf(chart);
    const [min, max] = shown.get(group) ?? range(group);
    const time = chart.axis === 's', rows = chart.rows;
    const series = [{label: time ? 'time' : chart.axis, value: (u, v) => v == null ? '–' : chart.ticks ? chart.ticks[v] : time ? seconds(v) : text(v)}];
    const bands = [], cap = chart.top || Infinity, loops = new Set(chart.loops);
    chart.lines.forEach((l, i) => {
      const color = ink('i' + l.ink), average = l.mean ?? mean(l.y);
      series.push({
        label: l.name, stroke: l.kind === 'edge' ? 'transparent' : color, width: l.kind === 'edge' ? 0 : 1.6,
        dash: l.kind === 'dash' ? [6, 4] : undefined, spanGaps: false,
        points: l.kind === 'dots' ? {show: dots} : {show: !time && l.kind !== 'edge', size: 7},
        paths: l.kind === 'dots' ? () => null : undefined,
        value: (u, v, si, at) => rows ? (v == null ? '' : '●') : (at == null ? (l.kind === 'dash' ? '' : '∅ ') + text(average) : text(v) + between(chart, i, at)),
      });
      if (l.band) bands.push({series: [i + 1 - l.band, i + 1], fill: faded(color)});
    });
    const axis = {stroke: ink('dim'), grid: {stroke: ink('grid'), width: 1}, ticks: {stroke: ink('grid'), width: 1, size: 4}, font: '12px system-ui, sans-serif'};
    const u = new uPlot({
      width, height: rows ? 60 + 34 * rows.length : 190,
      padding: [14, 22, 0, 0],
      scales: {x: {time: false, min, max}, y: rows ? {range: [-0.6, rows.length - 0.4]}
        : {range: (u, lo, hi) => {
          const [from, to] = shown.get(group) ?? range(group); // u.scales.x follows only after this
          const far = to - from > (xs[xs.length - 1] - xs[0]) / 5;
          if (loops.size || chart.settle) hi = highest(xs, chart, loops, from, to) ?? hi;
          const top = far ? Math.min(hi ?? 0, cap) : hi ?? 0;
          return [Math.min(0, lo ?? 0), top <= 0 ? 1 : top * 1.06];
        }}},
      series, bands, legend: {markers: {fill: (u, i) => i ? ink('i' + chart.lines[i - 1].ink) : 'transparent', width: 0}},
      axes: [
        {...axis, values: (u, vs) => vs.map((v) => chart.ticks ? chart.ticks[v] ?? '' : time ? seconds(v) : text(v)),
          incrs: chart.ticks || !time && whole(xs) ? steps : undefined, space: time ? 64 : 70},
        {...axis, size: rows ? 86 : 54, incrs: chart.lines.every((l) => whole(l.y)) ? steps : undefined, splits: rows ? () => rows.map((r, i) => i) : undefined, values: (u, vs) => vs.map((v) => rows ? rows[v] : text(v)), space: 34},
      ],
      cursor: {sync: {key: 'axis-' + (time ? 's' : chart.x), setSeries: false}, drag: {x: true, y: false, setScale: true}, points: {size: 7},},
      hooks: {draw: [(u) => { if (chart.marked) marks(u); if (cap < Infinity || loops.size || chart.settle) beyond(u, chart); }], setCursor: [(u) => say(u, chart)],
        setScale: [(u, key) => { if (key === 'x') follow(u); }]},
    }, [xs, ...chart.lines.map((l) => l.y)], place);
    u.root.querySelector('.u-wrap').setAttribute('aria-hidden', 'true');
    u.root.querySelectorAll('.u-series').forEach((row, i) => { row.hidden = i > 0 && chart.lines[i - 1].kind === 'edge'; });
    u.setLegend({idx: null}); // shows the means
    u.group = group;
    if (rows) queueMicrotask(() => u.redraw()); // the first drawing of dots differs in a few pixels from later ones
    return u;
  };

  // All charts of one axis show the same range; shown has it by group once it was zoomed.
  const shown = new Map();
  const zoom = (group, lo, hi) => {
    const full = range(group);
    const span = Math.min(Math.max(hi - lo, (full[1] - full[0]) / 5000), full[1] - full[0]);
    lo = Math.min(Math.max(lo, full[0]), full[1] - span);
    const [min, max] = span < full[1] - full[0] ? [lo, lo + span] : full; // full, without a rounding error
    shown.set(group, [min, max]);
    for (const u of plots) if (u.group === group) u.setScale('x', {min, max});
  };
  const ranges = new Map(); // of all values, by group
  const range = (group) => {
    if (!ranges.has(group)) {
      const lo = [], hi = [];
      for (const c of data.charts) if (groupOf(c) === group && data.x[c.x].length) { lo.push(data.x[c.x][0]); hi.push(data.x[c.x][data.x[c.x].length - 1]); }
      const a = Math.min(...lo), b = Math.max(...hi);
      ranges.set(group, a < b ? [a, b] : [a - 1, a + 1]);
    }
    return ranges.get(group);
  };
  const follow = (u) => {
    if (!plots.includes(u) || u.scales.x.min == null) return;
    const {min, max} = u.scales.x, own = [u.data[0][0], u.data[0][u.data[0].length - 1]], at = shown.get(u.group) ?? range(u.group);
    if (min === at[0] && max === at[1]) return; // zoom set it
    queueMicrotask(() => min <= own[0] && max >= own[1] ? zoom(u.group, ...range(u.group)) : zoom(u.group, min, max));
  };
  const turn = (u, what) => {
    const {min, max} = u.scales.x, span = max - min, mid = (min + max) / 2;
    switch (what) {
      case 'in': return zoom(u.group, mid - span / 4, mid + span / 4);
      case 'out': return zoom(u.group, mid - span, mid + span);
      case 'left': return zoom(u.group, min - span / 3, max - span / 3);
      case 'right': return zoom(u.group, min + span / 3, max + span / 3);
      case 'all': return zoom(u.group, ...range(u.group));
    }
  };

  // Draws the charts in their order. Those below the screen follow one by one, so that the page opens at once. For
  // print all are drawn, with the given width.
  let later = 0;
  const build = (width) => {
    clearTimeout(later);
    for (const u of plots) u.destroy();
    [plots, style, inks] = [[], getComputedStyle(document.documentElement), {}];
    const next = () => {
      const place = places[plots.length];
      plots.push(draw(place, width || Math.max(place.clientWidth, 200)));
      document.documentElement.dataset.drawn = plots.length;
    };
    const rest = () => {
      next();
      if (plots.length < places.length) later = setTimeout(rest);
    };
    while (plots.length < places.length && (width || places[plots.length].getBoundingClientRect().top < innerHeight)) next();
    if (plots.length < places.length) later = setTimeout(rest);
  };

  build();
  for (const tools of document.querySelectorAll('.tools')) {
    tools.hidden = false;
    tools.addEventListener('click', (e) => {
      const what = e.target.dataset.do;
      const inside = tools.closest('section').querySelectorAll('.plot');
      const groups = new Set();
      for (const p of inside) {
        const u = plots[places.indexOf(p)];
        if (what && u && !groups.has(u.group)) { groups.add(u.group); turn(u, what); }
      }
    });
  }
  places.forEach((p, i) => p.addEventListener('keydown', (e) => {
    const u = plots[i];
    if (!u) return;
    const xs = u.data[0];
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === 'ArrowLeft' || e.key === 'ArrowRight') {
      const step = (e.key === 'ArrowLeft' ? -1 : 1) * (e.shiftKey ? 10 : 1);
      const from = u.cursor.idx ?? xs.findIndex((x) => x >= u.scales.x.min);
      const at = Math.min(Math.max(from + step, 0), xs.length - 1);
      if (xs[at] < u.scales.x.min || xs[at] > u.scales.x.max) turn(u, step < 0 ? 'left' : 'right');
      u.setCursor({left: u.valToPos(xs[at], 'x'), top: u.over.clientHeight / 2}, true);
      const chart = data.charts[p.dataset.chart];
      if (!(chart.notes && chart.notes[at])) {
        p.closest('section').querySelector('.note').textContent = (chart.ticks ? chart.ticks[xs[at]] : chart.axis === 's' ? seconds(xs[at]) : text(xs[at])) + ': ' +
          chart.lines.filter((l) => l.kind !== 'edge' && l.y[at] != null).map((l) => l.name + ' ' + text(l.y[at])).join(', ') + ' ' + chart.unit;
      }
    } else if (e.key === '+' || e.key === '=') turn(u, 'in');
    else if (e.key === '-') turn(u, 'out');
    else if (e.key === '0' || e.key === 'Escape') turn(u, 'all');
    else return;
    e.preventDefault();
  }));

  let waiting = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => plots.forEach((u, i) => {
      const w = places[i].clientWidth;
      if (w > 0 && w !== u.width && !document.documentElement.classList.contains('print')) u.setSize({width: w, height: u.height});
    }));
  }).observe(document.body);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => build());
  addEventListener('beforeprint', () => { document.documentElement.classList.add('print'); build(660); });
  addEventListener('afterprint', () => { document.documentElement.classList.remove('print'); build(); });
})();
