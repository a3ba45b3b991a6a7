// ---- heat map: ranks x steps ------------------------------------------------------------------------------------------
// What is shorter is blue and what is longer is orange: those two differ for every eye.
page.deltaColour = (share) => {
  const isDark = page.isDark();
  const ends = isDark ? [[96, 165, 250], [251, 146, 60]] : [[0, 68, 136], [176, 72, 0]];
  const grey = isDark ? [58, 63, 72] : [238, 238, 238];
  const to = ends[share < 0 ? 0 : 1];
  return `rgb(${grey.map((c, k) => Math.round(c + (to[k] - c) * Math.min(1, Math.abs(share)))).join(' ')})`;
};

page.median = (list) => [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) / 2)];

page.signed = (ns) => `${ns < 0 ? '' : '+'}${page.duration(ns)}`;

// A page of two sides has a map of each, and one of the differences.
page.addHeatMap = (canvas) => {
  const side = canvas.dataset.side;
  const id = (name) => side ? `${side}-${name}` : name;
  const grid = page.json(id('grid'));
  if (!grid) return;
  // Of steps that share a column one is shown.
  grid.columns = grid.columns || grid.steps;
  const data = page.bytes(id('grid-data'));
  const cells = grid.rows.length * grid.columns.length;
  const select = document.getElementById(id('heat-role'));
  const status = document.getElementById(id('heat-status'));
  let at = {row: 0, column: 0, isShown: false};
  let place = {left: 0, cell: 1, rowHeight: 1};

  // The length of a step, its own time, and the share of a role in it; null without that step.
  const total = (i, part = 0) => {
    const at = 2 * (part * cells + i);
    const value = data[at] | (data[at + 1] << 8);
    if (grid.is_delta) return value === 0x8000 ? null : ((value << 16 >> 16) / 32767) * grid.max_ns;
    return value === 0 ? null : ((value - 1) / 65534) * grid.max_ns;
  };
  const rankOf = (row, i) => grid.ranks[row * grid.ranks_a_row + (grid.is_delta ? 0 : data[4 * cells + i])];
  const ranksOf = (row) => grid.ranks.slice(row * grid.ranks_a_row, (row + 1) * grid.ranks_a_row);
  const share = (role, i) => data[5 * cells + role * cells + i] / 255;
  const valueOf = (i) => {
    const role = select ? Number(select.value) : -1;
    const ns = total(i, role === -2 ? 1 : 0);
    return ns === null || role < 0 ? ns : ns * share(role, i);
  };
  // What a cell is compared with: the median rank of its step, so that one long step darkens no column; of one or two
  // ranks the median step of the rank.
  const references = () => {
    const columns = grid.columns.length;
    const isByStep = grid.rows.length > 2;
    const isOwn = select && Number(select.value) === -2;
    const found = isByStep && isOwn && grid.medians ? grid.medians : [];
    for (let k = found.length; k < (isByStep ? columns : grid.rows.length); ++k) {
      const list = [];
      for (let j = 0; j < (isByStep ? grid.rows.length : columns); ++j) {
        const value = valueOf(isByStep ? j * columns + k : k * columns + j);
        if (value !== null) list.push(value);
      }
      found.push(list.length ? page.median(list) : 0);
    }
    return (i) => found[isByStep ? i % columns : Math.floor(i / columns)];
  };
  // Differences as shares of the median. The scale ends at 10 % or more, of estimates at 20 %: less is the noise of every run. The first step
  // of some warms up, and stretches nothing.
  const scaleOf = () => {
    const reference = references();
    const columns = grid.columns.length;
    const values = [];
    const lengths = [];
    const differences = [];
    for (let i = 0; i < cells; ++i) {
      const value = valueOf(i);
      if (value === null || (columns > 2 && i % columns === 0)) continue;
      values.push(value);
      lengths.push(total(i));
      differences.push(Math.abs(value - reference(i)));
    }
    const middle = values.length ? page.median(values) : 0;
    // A role's time is compared as part of the step: much more of almost nothing is almost nothing.
    const whole = Math.max(select && Number(select.value) >= 0 && lengths.length ? page.median(lengths) : middle, 1);
    differences.sort((a, b) => a - b);
    const most = differences.length ? differences[Math.min(differences.length - 1, Math.floor(.98 * differences.length))] / whole : 0;
    const end = [.1, .2, .5, 1].find((one) => one >= most && (one > .1 || !grid.is_estimated)) || 2;
    return {reference, whole, middle, end, of: (i) => (valueOf(i) - reference(i)) / whole / end};
  };
  // The differences of two sides: up to the largest.
  const deltaScale = () => {
    let size = 1;
    for (let i = 0; i < cells; ++i) size = Math.max(size, Math.abs(valueOf(i) || 0));
    return {middle: 0, whole: size, end: 1, of: (i) => valueOf(i) / size};
  };
  const kTop = 34;  // of the scale above the cells
  const draw = () => {
    const rowHeight = Math.max(2, Math.min(26, Math.floor(520 / grid.rows.length)));
    if (canvas.clientWidth === 0) return;
    const {context, width} = page.prepare(canvas, kTop + rowHeight * grid.rows.length + 22);
    const left = 8 + Math.max(...[...grid.rows.keys()].filter((i) => i % 16 === 0 || i === grid.rows.length - 1)
      .map((i) => context.measureText(grid.rows[i]).width));
    // A run of three steps is no banner.
    const cell = Math.min(96, (width - left - 2) / grid.columns.length);
    const scale = grid.is_delta ? deltaScale() : scaleOf();
    const bar = {x: left, y: 3, width: Math.min(300, width - left - 4), height: 12};
    place = {left, cell, rowHeight, scale, bar, top: kTop};
    for (let row = 0; row < grid.rows.length; ++row)
      for (let column = 0; column < grid.columns.length; ++column) {
        const value = valueOf(row * grid.columns.length + column);
        if (value === null) continue;
        const share = scale.of(row * grid.columns.length + column);
        context.fillStyle = page.deltaColour(share);
        const gap = cell > 6 && rowHeight > 6 ? 1 : 0;
        context.fillRect(left + column * cell, kTop + row * rowHeight, Math.max(cell - gap, .5), rowHeight - gap);
        // What is beyond the scale has a notch.
        if (Math.abs(share) <= 1.0001 || cell < 8 || rowHeight < 8) continue;
        context.fillStyle = page.colours.ink;
        context.fillRect(left + column * cell, kTop + row * rowHeight, 3, 3);
      }
    context.fillStyle = page.colours.soft;
    const every = Math.ceil(14 / rowHeight);
    const isNamed = (row) => grid.named !== undefined && ranksOf(row).includes(grid.named);
    const named = grid.rows.findIndex((_, row) => isNamed(row));
    for (let row = 0; row < grid.rows.length; row += every) {
      if (named >= 0 && row !== named && Math.abs(row - named) < every) continue;
      context.fillText(grid.rows[row], 2, kTop + row * rowHeight + Math.max(rowHeight, 12) / 2);
    }
    if (named >= 0) {
      context.font = 'bold 12px system-ui, sans-serif';
      context.fillStyle = page.colours.communication;
      context.fillText(grid.rows[named], 2, kTop + named * rowHeight + Math.max(rowHeight, 12) / 2);
      context.font = '12px system-ui, sans-serif';
      context.fillStyle = page.colours.soft;
    }
    const bottom = kTop + rowHeight * grid.rows.length + 12;
    const first = `step ${grid.columns[0]}`;
    context.fillText(first, left, bottom);
    const last = `${grid.columns[grid.columns.length - 1]}`;
    const end = left + cell * grid.columns.length;
    if (grid.columns.length > 1)
      context.fillText(last, Math.max(end - context.measureText(last).width - 3, left + context.measureText(first).width + 8), bottom);
    if (at.isShown) {
      context.strokeStyle = page.colours.communication;
      context.lineWidth = 2;
      context.strokeRect(left + at.column * cell, kTop + at.row * rowHeight, Math.max(cell, 3), Math.max(rowHeight, 3));
    }
    for (let i = 0; i < bar.width; ++i) {
      context.fillStyle = page.deltaColour(2 * (i + .5) / bar.width - 1);
      context.fillRect(bar.x + i, bar.y, 1.5, bar.height);
    }
    context.fillStyle = page.colours.soft;
    const ends = [-1, 0, 1].map((at) => scale.middle + at * scale.end * scale.whole);
    const texts = ends.map((ns) => grid.is_delta ? page.signed(ns) : page.duration(Math.max(0, ns)));
    texts.forEach((text, i) => {
      const wide = context.measureText(text).width;
      context.fillText(text, Math.max(2, bar.x + i * bar.width / 2 - (i === 0 ? 0 : i === 1 ? wide / 2 : wide)), bar.y + 21);
    });
    status.textContent = grid.is_delta ? `Rows: ranks. Blue: the new step is shorter, orange: longer. ${grid.note}` :
      `Rows: ranks. Blue: shorter than ${grid.rows.length > 2 ? 'the median rank of the step' : 'the median step'}, orange: longer. ` +
      `The scale ends at ±${Math.round(100 * scale.end)} %${grid.rows.length > 2 ? '' : ' of it'}. ${grid.note}`;
  };

  const words = () => {
    const i = at.row * grid.columns.length + at.column;
    const ns = total(i);
    const where = `${grid.row_noun} ${grid.rows[at.row]}, step ${grid.steps[at.column]}${
      grid.steps[at.column] === grid.columns[at.column] ? '' : ` of ${grid.columns[at.column]}`}`;
    if (ns === null) return `${where}: no such step`;
    const own = grid.is_delta || grid.ranks.length < 2 ? '' : `\nits own time ${page.duration(total(i, 1))}`;
    const who = grid.ranks_a_row > 1 ? `: rank ${rankOf(at.row, i)}` : '';
    const parts = grid.roles.map((name, role) => [share(role, i), name]).filter(([part]) => part > .004)
      .sort((a, b) => b[0] - a[0]).map(([part, name]) => `${name} ${(100 * part).toFixed(0)} %`);
    return `${where}${who}: ${grid.is_delta ? page.signed(ns) : page.duration(ns)}${own}${parts.length ? `\n${parts.join(', ')}` : ''}`;
  };
  const find = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - place.left) / place.cell);
    const row = Math.floor((event.clientY - box.top - kTop) / place.rowHeight);
    if (column < 0 || row < 0 || column >= grid.columns.length || row >= grid.rows.length) return false;
    at = {row, column, isShown: at.isShown};
    return true;
  };
  const go = () => {
    const rank = rankOf(at.row, at.row * grid.columns.length + at.column);
    page.goTo(page.address('timeline', {rank, step: grid.steps[at.column], side: side === 'delta' ? 'new' : side}));
  };
  page.addTip(canvas, (event) => find(event) && words());
  canvas.addEventListener('click', (event) => { if (find(event)) go(); });
  canvas.addEventListener('keydown', (event) => {
    const move = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (event.key === 'Enter') go();
    else if (move) {
      at = {row: Math.max(0, Math.min(grid.rows.length - 1, at.row + move[0])),
        column: Math.max(0, Math.min(grid.columns.length - 1, at.column + move[1])), isShown: true};
      draw();
      status.textContent = words();
    } else return;
    event.preventDefault();
  });
  canvas.addEventListener('blur', () => { at.isShown = false; draw(); });
  if (select) select.addEventListener('change', draw);
  page.redraws.push(draw);
  page.heats[side] = {grid, canvas, valueOf, ranksOf, words: (row, column) => { at = {row, column, isShown: false}; return words(); },
    value: () => select ? select.selectedOptions[0].textContent : 'delta', place: () => place};
};

