// The timeline of the report page: rows of slices on a canvas. What is too short to be kept as a slice is a shade.
'use strict';

// Reads the slices of all rows: of each the distance of its start to the one before, its length, its name, and a byte
// of depth and role; of communication also the wait at its begin. Numbers are LEB128.
page.readSlices = (bytes, counts, communication) => {
  let at = 0;
  const number = () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  };
  return counts.map((count) => {
    const row = {start: new Float64Array(count), end: new Float64Array(count), name: new Uint32Array(count),
      kind: new Uint8Array(count), wait: new Float64Array(count), longest: 0};
    let start = 0;
    for (let i = 0; i < count; ++i) {
      start += number();
      const length = number();
      row.start[i] = start;
      row.end[i] = start + length;
      row.longest = Math.max(row.longest, length);
      row.name[i] = number();
      row.kind[i] = bytes[at++];
      if ((row.kind[i] & 15) === communication) row.wait[i] = number();
    }
    return row;
  });
};

// The first slice that starts at or after a time.
page.firstAt = (starts, time) => {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
};

// The part of a training that a name of the host tells; what is within a span belongs to the span's part.
page.phases = ['forward', 'backward', 'optimizer'];
page.phaseOf = (name) => /^Optimizer\.|\boptimizer\b/i.test(name) ? 2 : /backward|^autograd::engine/i.test(name) ? 1 : /\bforward\b/i.test(name) ? 0 : -1;
page.findPhases = (rows, names, roles) => {
  const own = names.map(page.phaseOf);
  for (const row of rows) {
    row.phase = new Int8Array(row.start.length).fill(-1);
    const outer = [];
    for (let i = 0; i < row.start.length; ++i) {
      const depth = row.kind[i] >> 4;
      outer.length = Math.min(outer.length, depth);
      const around = outer.findLast((one) => one !== undefined && one.end >= row.end[i]);
      const isHost = ['cpu', 'other', 'host_code'].includes(roles[row.kind[i] & 15]);
      row.phase[i] = !isHost ? -1 : own[row.name[i]] >= 0 ? own[row.name[i]] : around ? around.phase : -1;
      outer[depth] = {end: row.end[i], phase: row.phase[i]};
    }
  }
};

page.addTimeline = (canvas) => {
  const side = canvas.dataset.side;
  const id = (name) => side ? `${side}-${name}` : name;
  const facts = page.json(id('timeline-facts'));
  // A name that the search has, too, is its place there.
  const known = page.json(id('names'));
  facts.names = facts.names.map((name) => typeof name === 'number' ? known[name][1] : name);
  const rows = page.readSlices(page.bytes(id('timeline-slices')), facts.rows.map((row) => row.slices),
    facts.roles.indexOf('communication'));
  page.findPhases(rows, facts.names, facts.roles);
  const shades = page.bytes(id('timeline-shades'));
  const names = facts.names;
  const nameSet = new Set(names);
  const labels = new Set([...facts.steps.map(([label]) => label), ...facts.sums.map((sum) => sum[1])]);
  const status = document.getElementById(id('timeline-status'));
  const part = canvas.closest('.side, section');
  const roles = facts.roles;
  const darkRoles = new Set(['kernel', 'memset', 'forward', 'backward']);
  // Of the legend: parts of a training where there are some.
  const legend = part.querySelector('.legend');
  page.phases.forEach((phase, i) => {
    if (!legend || !rows.some((row) => row.phase.includes(i))) return;
    const item = legend.firstElementChild.cloneNode(true);
    item.querySelector('rect').setAttribute('class', phase);
    item.lastChild.textContent = phase;
    legend.append(item);
  });
  const gaps = page.makeGaps(facts, page.readSlices(page.bytes(id('timeline-gaps')), facts.ranks.map((rank) => rank.gaps), -1),
    names, legend);
  const top = 22;
  // Of two sides, the median steps are compared first.
  let first = side && facts.windows.length > 2 ? facts.windows[2] : {start: 0, end: facts.end};
  let view = {start: first.start, end: first.end};
  let rankWanted = null;
  let message = '';  // what an address asked for and is not there
  let left = 120;
  let width = 800;

  // Where each row begins; a thin row has one line, unless it was asked for, the others one a depth.
  let height = 0;
  const layout = () => {
    let y = top;
    let shadeAt = 0;
    for (const row of facts.rows) {
      const isOpened = row.thin && `${row.rank}` === rankWanted;
      row.y = y;
      row.line = !row.thin ? 15 : isOpened ? 18 : Math.max(2, Math.min(12, Math.floor(600 / facts.rows.length)));
      row.isBand = row.thin && !isOpened;
      row.height = row.line * Math.max(row.depths, 1);
      row.gap = isOpened ? 2 : row.thin ? 0 : row.last ? 9 : 3;
      row.shadeAt = shadeAt;
      shadeAt += row.bins * (row.thin ? 1 : facts.windows.length);
      y += row.height + row.gap;
    }
    height = y + 6;
  };
  const marked = facts.ranks.find((one) => one.why === 'named');
  const x = (time) => left + (time - view.start) / (view.end - view.start) * (width - left);
  const timeAt = (px) => view.start + (px - left) / (width - left) * (view.end - view.start);

  // Of two sides each counts from the begin of its median step, and both show the same time of it.
  const origin = side && facts.windows.length > 2 ? facts.windows[2].start : 0;
  const bounds = () => {
    const all = side ? Object.values(page.timelines) : [];
    return {low: Math.min(0, ...all.map((one) => origin - one.origin)),
      high: Math.max(facts.end, ...all.map((one) => one.facts.end - one.origin + origin))};
  };
  const clamp = (start, end) => {
    const {low, high} = bounds();
    // No view is so short that its ends are the same number.
    const least = Math.min(Math.max(100, facts.end * 2 ** -44), facts.end);
    const length = Math.max(Math.min(end - start, high - low), least);
    start = Math.max(low, Math.min(start, high - length));
    view = {start, end: start + length};
  };
  // Shows a view, on both sides, and keeps it in the address.
  const show = (start, end) => {
    clamp(start, end);
    draw();
    for (const other of side ? Object.values(page.timelines) : [])
      if (other.canvas !== canvas) other.follow(view.start - origin, view.end - origin);
    page.writeAddress();
  };
  // The shades of the narrowest window that covers the view; no window is finer than its bins.
  const shadeWindow = () => {
    let best = 0;
    facts.windows.forEach((window, i) => {
      if (window.start <= view.start && window.end >= view.end &&
          window.end - window.start < facts.windows[best].end - facts.windows[best].start) best = i;
    });
    return best;
  };
  const drawShades = (context, row) => {
    const number = row.thin ? 0 : shadeWindow();
    const window = facts.windows[number];
    const step = (window.end - window.start) / row.bins;
    const first = Math.max(0, Math.floor((view.start - window.start) / step));
    const last = Math.min(row.bins, Math.ceil((view.end - window.start) / step));
    for (let i = first; i < last; ++i) {
      const value = shades[row.shadeAt + number * row.bins + i];
      if (value === 0) continue;
      const from = Math.max(left, x(window.start + i * step));
      context.globalAlpha = (row.thin ? .15 : .1) + (row.thin ? .85 : .5) * (value & 15) / 15;
      context.fillStyle = page.colours[roles[value >> 4]];
      context.fillRect(from, row.y, Math.max(x(window.start + (i + 1) * step) - from, .5), row.line - (row.thin ? 0 : 1));
    }
    context.globalAlpha = 1;
  };
  // The shades of all thin rows are one picture, a pixel a bin: a thousand ranks have too many to be drawn each time.
  const thin = facts.rows.filter((row) => row.thin);
  let band = null;
  let bandColours = '';
  const makeBand = () => {
    band = document.createElement('canvas');
    [band.width, band.height] = [Math.max(...thin.map((row) => row.bins), 1), thin.length];
    const context = band.getContext('2d');
    const image = context.createImageData(band.width, band.height);
    const colours = roles.map((role) => parseInt(page.colours[role].slice(1), 16));
    thin.forEach((row, line) => {
      for (let i = 0; i < row.bins; ++i) {
        const value = shades[row.shadeAt + i];
        if (value === 0) continue;
        const colour = colours[value >> 4];
        image.data.set([colour >> 16, colour >> 8 & 255, colour & 255, 255 * (.15 + .85 * (value & 15) / 15)], 4 * (line * band.width + i));
      }
    });
    context.putImageData(image, 0, 0);
  };
  // Draws the rows from one to another, which are as high as each other.
  const drawBand = (context, from, to) => {
    const window = facts.windows[0];
    const perNs = band.width / (window.end - window.start);
    const low = Math.max(view.start, window.start);
    const high = Math.min(view.end, window.end);
    if (to === from || low >= high) return;
    const [first, last] = [thin[from], thin[to - 1]];
    context.imageSmoothingEnabled = false;
    context.drawImage(band, (low - window.start) * perNs, from, (high - low) * perNs, to - from,
      x(low), first.y, x(high) - x(low), last.y + last.height - first.y);
  };
  const drawBands = (context) => {
    if (thin.length === 0) return;
    const colours = roles.map((role) => page.colours[role]).join();
    if (colours !== bandColours) makeBand();
    bandColours = colours;
    const opened = thin.findIndex((row) => !row.isBand);
    drawBand(context, 0, opened < 0 ? thin.length : opened);
    if (opened >= 0) drawBand(context, opened + 1, thin.length);
  };
  // Waiting is pale and hatched: it differs from moving data for every eye.
  const drawWaiting = (context, y, size, from, to) => {
    if (to - from < .5) return;
    context.globalAlpha = 1;
    context.fillStyle = page.colours.waiting;
    context.fillRect(from, y, to - from, size);
    if (to - from < 8) return;
    context.save();
    context.beginPath();
    context.rect(from, y, to - from, size);
    context.clip();
    context.strokeStyle = page.colours.communication;
    context.globalAlpha = .5;
    context.lineWidth = 1;
    context.beginPath();
    for (let at = from - size; at < to; at += 7) {
      context.moveTo(at, y + size);
      context.lineTo(at + size, y);
    }
    context.stroke();
    context.restore();
  };
  const drawSlices = (context, row, slices) => {
    const last = page.firstAt(slices.start, view.end);
    // Slices on one pixel of one line are drawn once.
    const done = [-1, -1, -1, -1, -1, -1, -1, -1];
    for (let i = page.firstAt(slices.start, view.start - slices.longest); i < last; ++i) {
      if (slices.end[i] < view.start) continue;
      const depth = slices.kind[i] >> 4;
      const from = Math.max(left, x(slices.start[i]));
      const to = Math.min(width, x(slices.end[i]));
      if (to - from < .5 && from < done[depth]) continue;
      done[depth] = from + 1;
      const name = slices.name[i];
      context.globalAlpha = .72 + .28 * ((name * 37) % 8) / 7;
      const look = slices.phase[i] < 0 ? roles[slices.kind[i] & 15] : page.phases[slices.phase[i]];
      context.fillStyle = page.colours[look];
      const gap = to - from > 4 ? 1 : 0;
      context.fillRect(from, row.y + depth * row.line, Math.max(to - from - gap, 1), row.line - 1);
      drawWaiting(context, row.y + depth * row.line, row.line - 1, from, Math.min(to - gap, x(slices.start[i] + slices.wait[i])));
      if (to - from < 44) continue;
      context.globalAlpha = 1;
      context.fillStyle = darkRoles.has(look) ? '#ffffff' : '#10131a';
      context.fillText(page.fitted(names[name], Math.floor((to - from - 6) / 7.2)), from + 3,
        row.y + depth * row.line + row.line / 2, to - from - 5);
    }
    context.globalAlpha = 1;
  };
  const drawAxis = (context) => {
    const length = view.end - view.start;
    const rough = length / Math.max(2, (width - left) / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= rough);
    context.strokeStyle = page.colours.line;
    context.lineWidth = 1;
    context.fillStyle = page.colours.soft;
    // By an integer: where times are large, adding a step to one may leave it as it is.
    const first = Math.ceil((view.start - origin) / step);
    for (let i = 0; i < 50 && origin + (first + i) * step <= view.end; ++i) {
      const time = origin + (first + i) * step;
      context.beginPath();
      context.moveTo(x(time), top - 6);
      context.lineTo(x(time), height);
      context.stroke();
      const text = time === origin ? '0' : `${Number(((time - origin) / 1e6).toPrecision(7))} ms`;
      if (x(time) + context.measureText(text).width < width) context.fillText(text, x(time) + 2, 9);
    }
  };
  const drawSteps = (context) => {
    context.fillStyle = page.colours.step;
    facts.steps.forEach(([, start, end], i) => {
      if (i % 2 === 0 && end > view.start && start < view.end)
        context.fillRect(Math.max(left, x(start)), top - 4, Math.min(width, x(end)) - Math.max(left, x(start)), height);
    });
    // The strip says of which steps the page has all spans, or a part.
    context.fillStyle = page.colours.link;
    facts.steps.forEach(([, start, end, spans], i) => {
      if (end <= view.start || start >= view.end || spans === 0) return;
      const from = Math.max(left, x(start));
      context.globalAlpha = Math.max(.15, Math.min(1, keptIn[i] / spans));
      context.fillRect(from, top - 6, Math.max(Math.min(width, x(end)) - from - 1, .5), 3);
    });
    context.globalAlpha = 1;
  };
  // What the page keeps of the step that fills the view, or of all.
  const keptText = () => {
    const i = facts.steps.findIndex(([, start, end]) => start <= (view.start + view.end) / 2 && (view.start + view.end) / 2 < end);
    if (i < 0 || view.end - view.start > 2 * (facts.steps[i][2] - facts.steps[i][1])) return facts.kept;
    const [label, , , spans] = facts.steps[i];
    const [kept, all] = [keptIn[i], spans].map((one) => one.toLocaleString('en-US'));
    return kept === all ? `Step ${label}: all its ${all} spans.` : `Step ${label}: ${kept} of its ${all} spans; the others are shades.`;
  };
  // How many spans of the ranks in full begin in each step.
  const keptIn = facts.steps.map(([, start, end]) => facts.rows.reduce((sum, row, i) =>
    sum + (row.thin ? 0 : page.firstAt(rows[i].start, end) - page.firstAt(rows[i].start, start)), 0));
  const draw = () => {
    if (canvas.parentElement.clientWidth === 0) return;
    layout();
    const prepared = page.prepare(canvas, height);
    const context = prepared.context;
    width = prepared.width;
    left = Math.min(width * .35, 10 + Math.max(60, ...facts.rows.filter((row) => !row.thin)
      .map((row) => context.measureText(row.label).width)));
    drawSteps(context);
    drawAxis(context);
    drawBands(context);
    facts.rows.forEach((row, i) => {
      if (!row.isBand) drawShades(context, row);
      gaps.draw(context, row, view, x, left, width);
      drawSlices(context, row, rows[i]);
    });
    if (selection) {
      const from = Math.max(left, x(selection.from));
      context.globalAlpha = .18;
      context.fillStyle = page.colours.link;
      context.fillRect(from, top - 6, Math.max(Math.min(width, x(selection.to)) - from, 1), height);
      context.globalAlpha = 1;
    }
    context.fillStyle = page.colours.card;
    context.fillRect(0, 0, left - 2, height);
    let free = 0;
    for (const row of facts.rows) {
      const isWanted = rankWanted !== null && `${row.rank}` === rankWanted;
      if (row.y < free && !isWanted) continue;
      const isMarked = marked !== undefined && row.rank === marked.rank;
      if (isWanted && row.y < free) {
        context.fillStyle = page.colours.card;
        context.fillRect(0, row.y - 2, left - 2, 14);
      }
      context.font = `${isMarked ? 'bold ' : ''}12px system-ui, sans-serif`;
      context.fillStyle = isMarked ? page.colours.communication : isWanted ? page.colours.link : page.colours.ink;
      context.fillText(row.label, 4, row.y + Math.max(row.line, 12) / 2, left - 8);
      free = row.y + 13;
    }
    status.textContent = `${message}${page.duration(view.start - origin)} to ${page.duration(view.end - origin)} (${
      page.duration(view.end - view.start)})${side ? ' of the median step' : ''}. ${keptText()}`;
  };
  const zoom = (factor, px) => {
    const time = timeAt(px);
    show(time - (time - view.start) * factor, time + (view.end - time) * factor);
  };
  const pan = (share) => {
    const move = share * (view.end - view.start);
    show(view.start + move, view.end + move);
  };
  const findSlice = (px, py) => {
    const number = facts.rows.findIndex((row) => py >= row.y && py < row.y + row.height);
    if (number < 0 || px < left) return null;
    const row = facts.rows[number];
    const slices = rows[number];
    const time = timeAt(px);
    const reach = (view.end - view.start) / (width - left);
    const depth = Math.floor((py - row.y) / row.line);
    let best = -1;
    const last = page.firstAt(slices.start, time + reach);
    for (let i = page.firstAt(slices.start, time - slices.longest - reach); i < last; ++i)
      if (slices.kind[i] >> 4 === depth && slices.end[i] + reach >= time &&
          (best < 0 || slices.end[i] - slices.start[i] <= slices.end[best] - slices.start[best])) best = i;
    return {row, time, gap: best < 0 ? gaps.at(row, time) : null, wait: best < 0 ? 0 : slices.wait[best], name: best < 0 ? null : names[slices.name[best]],
      start: slices.start[best], length: slices.end[best] - slices.start[best], role: roles[slices.kind[best] & 15]};
  };
  const words = (found) => found.gap ? page.gapWords(found.gap, found.row, found.gap.start - origin) : found.name === null ? `${found.row.label} at ${page.duration(found.time)}` :
    `${found.name}\n${found.row.label}, ${found.role}: ${page.duration(found.length)} from ${page.duration(found.start - origin)}${
      found.wait > 0 ? `, ${page.duration(found.wait)} of it waiting` : ''}`;

  // The step of a rank in which a time is: label, begin and end.
  const stepsOf = new Map(facts.ranks.map(({rank}) => [rank, []]));
  stepsOf.set(null, facts.steps.map(([label, start, end]) => ({label, start, end})));
  for (const [rank, label, start, end] of facts.sums) stepsOf.get(rank).push({label, start, end});
  for (const steps of stepsOf.values()) steps.sort((a, b) => a.start - b.start);
  const startsOf = new Map([...stepsOf].map(([rank, steps]) => [rank, steps.map((step) => step.start)]));
  const stepAt = (rank, time) => {
    for (const key of [rank, null]) {
      const step = stepsOf.get(key)?.[page.firstAt(startsOf.get(key), time + .5) - 1];
      if (step && time < step.end) return step;
    }
    return null;
  };
  let selection = null;
  const select = (from, to) => {
    selection = from === null ? null : {from: Math.min(from, to), to: Math.max(from, to)};
    draw();
    page.writeAddress();
  };
  const act = (key) => {
    const centre = (left + width) / 2;
    const acts = {w: () => zoom(.7, centre), '+': () => zoom(.7, centre), s: () => zoom(1.4, centre), '-': () => zoom(1.4, centre),
      a: () => pan(-.2), d: () => pan(.2), ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2),
      0: () => show(bounds().low, bounds().high)};
    const found = acts[key.length === 1 ? key.toLowerCase() : key];
    if (found) found();
    return Boolean(found);
  };
  canvas.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.altKey && !event.metaKey && act(event.key)) event.preventDefault();
  });
  for (const button of part.querySelectorAll('button[data-key]'))
    button.addEventListener('click', () => act(button.dataset.key));
  for (const button of part.querySelectorAll('button[data-window]'))
    button.addEventListener('click', () => {
      const window = facts.windows[Number(button.dataset.window)];
      show(window.start, window.end);
    });
  page.redraws.push(draw);
  page.readers.push((values) => {
    rankWanted = values.rank === undefined ? null : values.rank;
    message = '';
    if (values.isWhole) {
      view = {...first};
      selection = null;
    }
    const step = facts.steps.find(([label]) => label === values.step);
    const own = facts.sums.find((one) => `${one[0]}` === rankWanted && one[1] === values.step);
    const isMine = (values.side || 'base') === (side || values.side || 'base');
    const around = (from, to, share) => clamp(from - (to - from) * share, to + (to - from) * share);
    if (own && isMine) around(own[2], own[3], .05);
    else if (step && isMine) around(step[1], step[2], .05);
    const found = values.name !== undefined && isMine ? longest(values.name) : null;
    if (found) {
      rankWanted = `${found.row.rank}`;
      around(found.start, found.start + found.length, 1);
    }
    const [from, to] = [Number(values.from || NaN), Number(values.to || NaN)];
    if (from < to && isMine) clamp(origin + from, origin + to);
    const [start, stop] = (values.select || '').split('_').map((one) => Number(one || NaN));
    if (start <= stop && isMine) {
      selection = {from: origin + start, to: origin + stop};
      showSums();
    }
    const row = found ? found.row : facts.rows.find((one) => `${one.rank}` === rankWanted);
    if (isMine && values.step !== undefined && !step && !own)
      message = `Step ${values.step} is none that counts${facts.steps.length === facts.all_steps ? '' :
        `, or the page has no room for it: of ${facts.all_steps} steps it has ${facts.steps.length}`}. `;
    if (isMine && values.rank !== undefined && !row) message = `There is no rank ${values.rank} here. `;
    if (!isMine) return undefined;
    return () => {
      for (const other of side ? Object.values(page.timelines) : [])
        if (other.canvas !== canvas) other.follow(view.start - origin, view.end - origin);
      if (found) pick(found);
      // Of two timelines, the one that the link names is brought into view.
      if (!row || canvas.clientWidth === 0) return;
      const box = canvas.getBoundingClientRect();
      scrollTo(0, Math.max(0, scrollY + box.top + row.y - innerHeight / 2));
    };
  });
  // The longest kept span of a name.
  const longest = (name) => {
    let best = null;
    rows.forEach((slices, number) => {
      for (let i = 0; i < slices.start.length; ++i)
        if (names[slices.name[i]] === name && (best === null || slices.end[i] - slices.start[i] > best.length))
          best = {row: facts.rows[number], wait: slices.wait[i], name, start: slices.start[i],
            length: slices.end[i] - slices.start[i], role: roles[slices.kind[i] & 15]};
    });
    return best;
  };
  // The panel that stays: what a click or a tap was on.
  const panel = page.make('div', '');
  panel.className = 'panel';
  panel.hidden = true;
  status.after(panel);
  const pick = (found) => {
    panel.hidden = found === null || (found.name === null && !found.gap);
    if (panel.hidden) return;
    panel.replaceChildren();
    if (found.gap) return void words(found).split('\n').forEach((line, i) => page.make(i === 0 ? 'b' : 'p', line, panel));
    page.make('b', found.name, panel);
    const step = stepAt(found.row.rank, found.start);
    const share = step ? `, ${(100 * found.length / Math.max(step.end - step.start, 1)).toFixed(1)} % of step ${step.label}` : '';
    page.make('p', `${found.row.label}, ${found.role}: ${page.duration(found.length)} from ${page.duration(found.start - origin)}${share}${
      found.wait > 0 ? `; it waits ${page.duration(found.wait)} and moves data for ${page.duration(found.length - found.wait)}` : ''}.`, panel);
    // The same span on the other ranks in full, in the same step.
    const others = !step ? [] : facts.ranks.filter((one) => one.rank !== found.row.rank && one.why !== 'other').map((one) => {
      let most = 0;
      facts.rows.forEach((row, number) => {
        if (row.rank !== one.rank) return;
        const slices = rows[number];
        for (let i = 0; i < slices.start.length; ++i)
          if (names[slices.name[i]] === found.name && stepAt(one.rank, slices.start[i])?.label === step.label)
            most = Math.max(most, slices.end[i] - slices.start[i]);
      });
      return most > 0 ? `${page.duration(most)} on rank ${one.rank} (${one.why === 'named' ? 'of the verdict' : one.why})` : null;
    }).filter((text) => text !== null);
    if (others.length > 0) page.make('p', `The longest of that name in the step: ${others.join(', ')}.`, panel);
    page.addNameLink(page.make('p', '', panel), found.name, side || undefined);
    if (page.openViewer) {
      const button = page.make('button', 'This span in ui.perfetto.dev', panel);
      button.type = 'button';
      button.addEventListener('click', () => page.openViewer(found.start - found.length, found.start + 2 * found.length));
    }
  };
  // Sums of a range: exact for whole steps, else of the spans that the page keeps, which is at least that.
  const sumsOf = (from, to, ranks) => {
    const wanted = ranks || facts.ranks.map((one) => one.rank);
    const found = [];
    let isExact = wanted.length > 0;
    for (const rank of wanted) {
      const inside = facts.sums.filter((one) => one[0] === rank && one[2] >= from && one[3] <= to);
      const covered = inside.reduce((sum, one) => sum + one[3] - one[2], 0);
      if (inside.length === 0 || covered !== to - from) isExact = false;
      else roles.forEach((role, i) => found.push({rank, role, name: null, count: inside.length, total_ns: inside.reduce((sum, one) => sum + one[4 + i], 0)}));
    }
    const named = new Map();
    facts.rows.forEach((row, number) => {
      if (!wanted.includes(row.rank)) return;
      // The row of the host's communication repeats spans of other rows. A name within itself counts once.
      if (row.copy) return;
      const slices = rows[number];
      const ends = new Map();
      for (let i = 0; i < slices.start.length; ++i) {
        const length = Math.min(slices.end[i], to) - Math.max(slices.start[i], from);
        if (length <= 0 || (ends.get(slices.name[i]) || 0) >= slices.end[i]) continue;
        ends.set(slices.name[i], slices.end[i]);
        const role = roles[slices.kind[i] & 15];
        const key = `${row.rank} ${role} ${slices.name[i]}`;
        const sum = named.get(key) || {rank: row.rank, role, name: names[slices.name[i]], count: 0, total_ns: 0};
        ++sum.count;
        sum.total_ns += length;
        named.set(key, sum);
      }
    });
    return {is_exact: isExact, rows: [...found, ...[...named.values()].sort((a, b) => b.total_ns - a.total_ns)]};
  };
  const showSums = () => {
    panel.hidden = selection === null;
    if (selection === null) return;
    panel.replaceChildren();
    const sums = sumsOf(selection.from, selection.to, null);
    page.make('b', `${page.duration(selection.to - selection.from)} from ${page.duration(selection.from - origin)}: ${
      sums.is_exact ? 'whole steps' : 'at least, of the spans that the page keeps'}`, panel);
    const list = page.make('ul', undefined, panel);
    for (const row of sums.rows.filter((one) => one.total_ns > 0 && (one.name !== null || sums.is_exact)).slice(0, 12))
      page.make('li', `rank ${row.rank}, ${row.role}${row.name === null ? '' : `: ${page.fitted(row.name, 90)}, ${row.count} times`}: ${
        page.duration(row.total_ns)}`, list);
  };
  const timeline = {canvas, facts, rows, gaps, names, nameSet, labels, roles, act, findSlice, stepAt, sumsOf, select, showSums, pick, zoom, pan, x, origin,
    words, show, side, selection: () => selection, view: () => view, width: () => width, left: () => left,
    isWhole: () => view.start === first.start && view.end === first.end,
    // Both sides begin with as much time.
    begin: (length) => { first = {start: first.start, end: first.start + length}; clamp(first.start, first.end); first = {...view}; },
    follow: (start, end) => { clamp(origin + start, origin + end); draw(); },
    pixel: (row) => facts.rows[row].y + 2};
  layout();
  page.addHands(timeline);
  page.timelines[side] = timeline;
};

