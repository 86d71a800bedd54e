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
    const at = chart.scatter ? nearest(u, chart) : u.cursor.idx;
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

  // The index of the point of a scatter that is nearest to the cursor.
  const nearest = (u, chart) => {
    const {left, top} = u.cursor;
    let at = null, least = Infinity;
    if (left >= 0) chart.lines.forEach((l) => l.y.forEach((y, i) => {
      const x = u.data[0][i], hidden = y == null || x < u.scales.x.min || x > u.scales.x.max;
      const d = hidden ? Infinity : Math.hypot(u.valToPos(x, 'x') - left, u.valToPos(y, 'y') - top);
      if (d < least) [at, least] = [i, d];
    }));
    return at;
  };

  // Draws a line as dots: those in l.large are larger, and joined as l.join says. A scatter also has intervals and tags.
  const dots = (chart) => (u, seriesIdx) => {
    const l = chart.lines[seriesIdx - 1], xs = u.data[0], c = u.ctx, px = devicePixelRatio;
    const joined = l.large ?? l.y.keys();
    const place = (i, y) => [u.valToPos(xs[i], 'x', true), u.valToPos(y, 'y', true)];
    c.save();
    c.beginPath();
    c.rect(u.bbox.left - 8 * px, 0, u.bbox.width + 16 * px, u.bbox.top + u.bbox.height + 8 * px);
    c.clip();
    c.fillStyle = c.strokeStyle = ink('i' + l.ink);
    c.lineWidth = 1.5 * px;
    c.setLineDash([5 * px, 4 * px]);
    c.beginPath();
    let last = null;
    for (const i of l.join ? joined : []) {
      if (l.y[i] == null) continue;
      const at = place(i, l.y[i]);
      if (!last) c.moveTo(...at);
      else if (l.join === 'step') c.lineTo(at[0], last[1]);
      c.lineTo(...at);
      last = at;
    }
    c.stroke();
    c.setLineDash([]);
    l.y.forEach((y, i) => {
      if (y == null || xs[i] < u.scales.x.min || xs[i] > u.scales.x.max) return;
      const [x, top] = place(i, y), large = l.large?.includes(i);
      c.globalAlpha = l.large && !large ? 0.55 : chart.scatter ? 1 : 0.8;
      c.beginPath();
      c.arc(x, top, (large ? 5.5 : l.join === 'line' && !chart.tags ? 2.5 : 3.5) * px, 0, 7);
      c.fill();
      if (l.lo?.[i] != null) {
        c.beginPath();
        c.moveTo(...place(i, l.lo[i]));
        c.lineTo(...place(i, l.hi[i]));
        c.stroke();
      }
      if (chart.tags?.[i]) tag(u, chart.tags[i], x + 8 * px, top);
    });
    c.restore();
    return null;
  };

  // Writes a tag, to the right of those that are already there.
  const tag = (u, word, x, y) => {
    const c = u.ctx, px = devicePixelRatio, size = 11 * px;
    while (u.tags.some((t) => Math.abs(t.x - x) < size && Math.abs(t.y - y) < size)) x += size;
    u.tags.push({x, y});
    c.font = size + 'px system-ui, sans-serif';
    c.textAlign = 'left';
    c.fillText(word, x, y + 4 * px);
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
        points: l.kind === 'dots' ? {show: dots(chart)} : {show: !time && l.kind !== 'edge', size: 7},
        paths: l.kind === 'dots' ? () => null : undefined,
        value: (u, v, si, at) => rows ? (v == null ? '' : '●') : (at == null ? (chart.scatter ? '' : (l.kind === 'dash' ? '' : '∅ ') + text(average)) : text(v) + between(chart, i, at)),
      });
      if (l.band) bands.push({series: [i + 1 - l.band, i + 1], fill: faded(color)});
    });
    const axis = {stroke: ink('dim'), grid: {stroke: ink('grid'), width: 1}, ticks: {stroke: ink('grid'), width: 1, size: 4}, font: '12px system-ui, sans-serif'};
    const u = new uPlot({
      width, height: rows ? 60 + 34 * rows.length : chart.scatter ? 340 : 190,
      padding: [14, 22, 0, 0],
      scales: {x: {time: false, min, max}, y: rows ? {range: [-0.6, rows.length - 0.4]}
        : {range: (u, lo, hi) => {
          const [from, to] = shown.get(group) ?? range(group); // u.scales.x follows only after this
          const far = to - from > (xs[xs.length - 1] - xs[0]) / 5;
          if (loops.size || chart.settle) hi = highest(xs, chart, loops, from, to) ?? hi;
          for (const l of chart.lines) for (const v of l.hi ?? []) hi = Math.max(hi ?? 0, v ?? 0);
          const top = far ? Math.min(hi ?? 0, cap) : hi ?? 0;
          return [Math.min(0, lo ?? 0), top <= 0 ? 1 : top * 1.06];
        }}},
      series, bands, legend: {markers: {fill: (u, i) => i ? ink('i' + chart.lines[i - 1].ink) : 'transparent', width: 0}},
      axes: [
        {...axis, values: (u, vs) => vs.map((v) => chart.ticks ? chart.ticks[v] ?? '' : time ? seconds(v) : text(v)),
          ...(!time && {label: chart.axis, size: 34, labelSize: 20, labelFont: '600 12px system-ui, sans-serif'}),
          incrs: chart.ticks || !time && whole(xs) ? steps : undefined, space: time ? 64 : 70},
        {...axis, size: rows ? 86 : 54, incrs: chart.lines.every((l) => whole(l.y)) ? steps : undefined, splits: rows ? () => rows.map((r, i) => i) : undefined, values: (u, vs) => vs.map((v) => rows ? rows[v] : text(v)), space: 34},
      ],
      cursor: {sync: {key: 'axis-' + (time ? 's' : chart.x), setSeries: false}, drag: {x: true, y: false, setScale: true}, points: {size: 7},
        ...(chart.scatter && {dataIdx: (u) => nearest(u, chart)})},
      hooks: {drawClear: [(u) => { u.tags = []; }], draw: [(u) => { if (chart.marked) marks(u); if (cap < Infinity || loops.size || chart.settle) beyond(u, chart); }], setCursor: [(u) => say(u, chart)],
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
      for (const c of data.charts) if (groupOf(c) === group && data.x[c.x].length) { lo.push(data.x[c.x][0]); hi.push(data.x[c.x][data.x[c.x].length - 1]); if (c.scatter) { lo.push(0); hi.push(hi[hi.length - 1] * 1.05); } }
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
      const chart = data.charts[p.dataset.chart], note = p.closest('section').querySelector('.note');
      const from = (chart.scatter ? u.at : u.cursor.idx) ?? xs.findIndex((x) => x >= u.scales.x.min) - (step > 0 && chart.scatter);
      const at = Math.min(Math.max(from + step, 0), xs.length - 1);
      if (xs[at] < u.scales.x.min || xs[at] > u.scales.x.max) turn(u, step < 0 ? 'left' : 'right');
      const y = chart.scatter && chart.lines.find((l) => l.y[at] != null).y[at];
      u.at = at; // of a scatter, in which points may have the same place
      u.setCursor({left: u.valToPos(xs[at], 'x'), top: chart.scatter ? u.valToPos(y, 'y') : u.over.clientHeight / 2}, true);
      if (chart.notes && chart.notes[at]) note.textContent = chart.notes[at];
      else {
        note.textContent = (chart.ticks ? chart.ticks[xs[at]] : chart.axis === 's' ? seconds(xs[at]) : text(xs[at])) + ': ' +
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
