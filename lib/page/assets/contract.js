// window.traceloom tells programs where things are in this page and what they show. The page itself never needs it.
page.boxOf = (canvas, x, y, width, height) => {
  const box = canvas.getBoundingClientRect();
  return {x: box.left + x, y: box.top + y, width, height};
};

window.traceloom = {
  verdict: () => {
    const card = document.querySelector('.verdict');
    const lead = card.querySelector('.lead').textContent;
    const lines = [...card.querySelectorAll('li, p.line')].map((item) => ({text: item.textContent,
      ranks: [...item.textContent.matchAll(/\brank (\d+)\b/g)].map((found) => Number(found[1])),
      steps: [...item.textContent.matchAll(/\bstep (\d[\d.]*\d|\d)\b/g)].map((found) => found[1]), names: [],
      hrefs: [...item.querySelectorAll('a')].map((link) => link.getAttribute('href'))}));
    const named = (page.timelineOf()?.facts.ranks || []).find((one) => one.why === 'named');
    return {kind: card.dataset.kind, rank: named ? named.rank : null, role: null, lead, lines};
  },
  ranksInFull: (side) => {
    const timeline = page.timelineOf(side);
    if (!timeline) return [];
    return timeline.facts.ranks.map(({rank, why}) => {
      const rows = timeline.facts.rows.filter((row) => row.rank === rank);
      if (rows.length === 0) return null;
      const [first, last] = [rows[0], rows[rows.length - 1]];
      return {rank, why, marked: why === 'named', box: page.boxOf(timeline.canvas, 0, first.y, timeline.width(), last.y + last.height - first.y),
        label: page.boxOf(timeline.canvas, 2, first.y, timeline.left() - 4, Math.max(first.line, 12))};
    }).filter((one) => one !== null);
  },
  cells: (side) => {
    const heat = page.heats[side || ''] || page.heats.base;
    if (!heat) return {value: '', scale: null, cells: []};
    const {grid} = heat;
    const {left, top, cell, rowHeight, scale, bar} = heat.place();
    const cells = [];
    grid.rows.forEach((_, row) => grid.columns.forEach((__, column) => cells.push({ranks: heat.ranksOf(row), steps: [grid.steps[column]],
      ns: heat.valueOf(row * grid.columns.length + column), box: page.boxOf(heat.canvas, left + column * cell, top + row * rowHeight, Math.max(cell, .5), rowHeight)})));
    return {value: heat.value(), cells, scale: bar === undefined ? null : {box: page.boxOf(heat.canvas, bar.x, bar.y, bar.width, bar.height),
      low_ns: scale.middle - scale.end * scale.whole, median_ns: scale.middle, high_ns: scale.middle + scale.end * scale.whole}};
  },
  steps: (side) => (page.timelineOf(side)?.facts.sums || []).map(([rank, step, start, end]) => ({rank, step, start_ns: start, end_ns: end})),
  openCell: (rank, step, side) => page.goTo(page.address('timeline', {rank, step, side})),
  spansInView: (side) => {
    const timeline = page.timelineOf(side);
    if (!timeline || timeline.canvas.clientWidth === 0) return [];
    const view = timeline.view();
    const [left, width] = [timeline.left(), timeline.width()];
    const found = [];
    timeline.facts.rows.forEach((row, number) => {
      const slices = timeline.rows[number];
      for (let i = 0; i < slices.start.length; ++i) {
        if (slices.end[i] < view.start || slices.start[i] > view.end) continue;
        const depth = slices.kind[i] >> 4;
        const from = Math.max(left, timeline.x(slices.start[i]));
        const to = Math.min(width, timeline.x(slices.end[i]));
        const waits = slices.wait[i] > 0 ? Math.min(to, timeline.x(slices.start[i] + slices.wait[i])) : from;
        found.push({rank: row.rank, step: timeline.stepAt(row.rank, slices.start[i])?.label ?? null, row: row.label,
          role: timeline.roles[slices.kind[i] & 15], name: timeline.names[slices.name[i]], start_ns: slices.start[i], end_ns: slices.end[i],
          box: page.boxOf(timeline.canvas, from, row.y + depth * row.line, Math.max(to - from, 1), Math.max(row.line - 1, 1)),
          waiting: waits > from ? page.boxOf(timeline.canvas, from, row.y + depth * row.line, waits - from, Math.max(row.line - 1, 1)) : null});
      }
    });
    return found;
  },
  gapsInView: (side) => {
    const timeline = page.timelineOf(side);
    if (!timeline || timeline.canvas.clientWidth === 0) return [];
    const view = timeline.view();
    return timeline.facts.rows.flatMap((row) => timeline.gaps.inRow(row, view.start, view.end).map((gap) => {
      const from = Math.max(timeline.left(), timeline.x(gap.start));
      const to = Math.min(timeline.width(), timeline.x(gap.start + gap.length));
      return {rank: row.rank, row: row.label, cause: gap.cause, name: gap.name, start_ns: gap.start, end_ns: gap.start + gap.length,
        box: page.boxOf(timeline.canvas, from, row.y, Math.max(to - from, 1), row.line - 1)};
    }));
  },
  view: (side) => {
    const timeline = page.timelineOf(side);
    const box = timeline ? timeline.canvas.getBoundingClientRect() : {left: 0};
    const view = timeline ? timeline.view() : {start: 0, end: 0};
    const selection = timeline ? timeline.selection() : null;
    const origin = timeline ? timeline.origin : 0;
    return {section: page.place.section, theme: document.documentElement.dataset.theme || 'system', origin: timeline && timeline.side ? 'step' : 'run',
      start_ns: view.start - origin, end_ns: view.end - origin, left_px: box.left + (timeline ? timeline.left() : 0), right_px: box.left + (timeline ? timeline.width() : 0),
      rank: page.place.rank === undefined ? null : Number(page.place.rank), step: page.place.step ?? null, name: page.place.name ?? null,
      selection: selection === null ? null : {from_ns: selection.from - origin, to_ns: selection.to - origin}};
  },
  communication: (side) => page.json(side ? `${side}-comm-times` : 'comm-times')?.ranks || [],
  search: (text) => page.search(text).map(({kind, name, count, total_ns, href}) => ({kind, name, count, total_ns, href})),
  selectRange: (from, to, ranks, side) => {
    const timeline = page.timelineOf(side);
    timeline.select(timeline.origin + from, timeline.origin + to);
    return timeline.sumsOf(timeline.origin + from, timeline.origin + to, ranks || null);
  },
};

