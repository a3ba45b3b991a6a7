// The timeline of the report page: rows of slices on a canvas. What is too short to be kept as a slice is a shade.
'use strict';

// Reads the slices of all rows: of each the distance of its start to the one before, its length, its name, and a byte
// of depth and role. Numbers are LEB128.
page.readSlices = (bytes, counts) => {
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
      kind: new Uint8Array(count), longest: 0};
    let start = 0;
    for (let i = 0; i < count; ++i) {
      start += number();
      const length = number();
      row.start[i] = start;
      row.end[i] = start + length;
      row.longest = Math.max(row.longest, length);
      row.name[i] = number();
      row.kind[i] = bytes[at++];
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

page.addTimeline = (canvas) => {
  const side = canvas.dataset.side;
  const id = (name) => side ? `${side}-${name}` : name;
  const facts = page.json(id('timeline-facts'));
  const rows = page.readSlices(page.bytes(id('timeline-slices')), facts.rows.map((row) => row.slices));
  const shades = page.bytes(id('timeline-shades'));
  const names = facts.names;
  const status = document.getElementById(id('timeline-status'));
  const part = canvas.closest('.side, section');
  const roles = facts.roles;
  const darkRoles = new Set(['kernel', 'memset']);
  const top = 22;
  // Of two sides, the median steps are compared first.
  const first = side && facts.windows.length > 2 ? facts.windows[2] : {start: 0, end: facts.end};
  let view = {start: first.start, end: first.end};
  let rankWanted = null;
  let left = 120;
  let width = 800;

  // Where each row begins; thin rows have one line, the others one a depth.
  let y = top;
  let shadeAt = 0;
  for (const row of facts.rows) {
    row.y = y;
    row.line = row.thin ? Math.max(2, Math.min(12, Math.floor(600 / facts.rows.length))) : 15;
    row.height = row.line * Math.max(row.depths, 1);
    row.gap = row.thin ? 0 : row.last ? 9 : 3;
    row.shadeAt = shadeAt;
    shadeAt += row.bins * (row.thin ? 1 : facts.windows.length);
    y += row.height + row.gap;
  }
  const height = y + 6;
  const x = (time) => left + (time - view.start) / (view.end - view.start) * (width - left);
  const timeAt = (px) => view.start + (px - left) / (width - left) * (view.end - view.start);

  const clamp = (start, end) => {
    // No view is so short that its ends are the same number.
    const least = Math.min(Math.max(100, facts.end * 2 ** -44), facts.end);
    const length = Math.max(Math.min(end - start, facts.end), least);
    start = Math.max(0, Math.min(start, facts.end - length));
    view = {start, end: start + length};
  };
  // The shades of the narrowest window that covers the view; no window is finer than its bins.
  const shadeWindow = (row) => {
    if (row.thin) return 0;
    let best = 0;
    facts.windows.forEach((window, i) => {
      if (window.start <= view.start && window.end >= view.end &&
          window.end - window.start < facts.windows[best].end - facts.windows[best].start) best = i;
    });
    return best;
  };
  const drawShades = (context, row) => {
    const number = shadeWindow(row);
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
      context.fillStyle = page.colours[roles[slices.kind[i] & 15]];
      const gap = to - from > 4 ? 1 : 0;
      context.fillRect(from, row.y + depth * row.line, Math.max(to - from - gap, 1), row.line - 1);
      if (to - from < 44) continue;
      context.globalAlpha = 1;
      context.fillStyle = darkRoles.has(roles[slices.kind[i] & 15]) ? '#ffffff' : '#10131a';
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
    const first = Math.ceil(view.start / step);
    for (let i = 0; i < 50 && (first + i) * step <= view.end; ++i) {
      const time = (first + i) * step;
      context.beginPath();
      context.moveTo(x(time), top - 6);
      context.lineTo(x(time), height);
      context.stroke();
      const text = time === 0 ? '0' : `${Number((time / 1e6).toPrecision(7))} ms`;
      if (x(time) + context.measureText(text).width < width) context.fillText(text, x(time) + 2, 9);
    }
  };
  const drawSteps = (context) => {
    context.fillStyle = page.colours.step;
    facts.steps.forEach(([, start, end], i) => {
      if (i % 2 === 0 && end > view.start && start < view.end)
        context.fillRect(Math.max(left, x(start)), top - 4, Math.min(width, x(end)) - Math.max(left, x(start)), height);
    });
  };
  const draw = () => {
    if (canvas.parentElement.clientWidth === 0) return;
    const prepared = page.prepare(canvas, height);
    const context = prepared.context;
    width = prepared.width;
    left = Math.min(width * .35, 10 + Math.max(60, ...facts.rows.filter((row) => !row.thin)
      .map((row) => context.measureText(row.label).width)));
    drawSteps(context);
    drawAxis(context);
    facts.rows.forEach((row, i) => {
      drawShades(context, row);
      drawSlices(context, row, rows[i]);
    });
    context.fillStyle = page.colours.card;
    context.fillRect(0, 0, left - 2, height);
    let free = 0;
    for (const row of facts.rows) {
      if (row.y < free) continue;
      context.fillStyle = rankWanted !== null && `${row.rank}` === rankWanted ? page.colours.link : page.colours.ink;
      context.fillText(row.label, 4, row.y + Math.max(row.line, 12) / 2, left - 8);
      free = row.y + 13;
    }
    status.textContent = `${page.duration(view.start)} to ${page.duration(view.end)} (${
      page.duration(view.end - view.start)}). ${facts.kept}`;
  };
  const zoom = (factor, px) => {
    const time = timeAt(px);
    clamp(time - (time - view.start) * factor, time + (view.end - time) * factor);
    draw();
  };
  const pan = (share) => {
    const move = share * (view.end - view.start);
    clamp(view.start + move, view.end + move);
    draw();
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
    return {row, time, name: best < 0 ? null : names[slices.name[best]],
      start: slices.start[best], length: slices.end[best] - slices.start[best], role: roles[slices.kind[best] & 15]};
  };
  const words = (found) => found.name === null ? `${found.row.label} at ${page.duration(found.time)}` :
    `${found.name}\n${found.row.label}, ${found.role}: ${page.duration(found.length)} from ${page.duration(found.start)}`;

  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    if (event.shiftKey) pan(Math.sign(event.deltaY || event.deltaX) * .1);
    else zoom(event.deltaY > 0 ? 1.25 : .8, event.clientX - canvas.getBoundingClientRect().left);
  }, {passive: false});
  let drag = null;
  canvas.addEventListener('pointerdown', (event) => {
    drag = {x: event.clientX, view};
    canvas.setPointerCapture(event.pointerId);
  });
  for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'])
    canvas.addEventListener(end, () => { drag = null; });
  canvas.addEventListener('pointermove', (event) => {
    if (drag) {
      const move = (drag.x - event.clientX) / (width - left) * (drag.view.end - drag.view.start);
      clamp(drag.view.start + move, drag.view.end + move);
      draw();
      return;
    }
    const box = canvas.getBoundingClientRect();
    const found = findSlice(event.clientX - box.left, event.clientY - box.top);
    if (found) page.tip.show(words(found), event.clientX, event.clientY);
    else page.tip.hide();
  });
  canvas.addEventListener('pointerleave', page.tip.hide);
  const act = (key) => {
    const centre = (left + width) / 2;
    const acts = {w: () => zoom(.7, centre), '+': () => zoom(.7, centre), s: () => zoom(1.4, centre), '-': () => zoom(1.4, centre),
      a: () => pan(-.2), d: () => pan(.2), ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2),
      0: () => { clamp(0, facts.end); draw(); }};
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
      clamp(window.start, window.end);
      draw();
    });
  page.redraws.push(draw);
  page.readers.push((values) => {
    rankWanted = values.rank === undefined ? null : values.rank;
    const step = facts.steps.find(([label]) => label === values.step);
    if (step) clamp(step[1] - (step[2] - step[1]) * .05, step[2] + (step[2] - step[1]) * .05);
    const row = facts.rows.find((one) => `${one.rank}` === rankWanted);
    draw();
    if (values.step !== undefined && !step) status.textContent = `There is no step ${values.step} here. ${status.textContent}`;
    // Of two timelines, the one that the link names is brought into view.
    if (row && (step || rankWanted !== null) && (values.side || 'base') === (side || values.side || 'base')) {
      const box = canvas.getBoundingClientRect();
      scrollTo(0, Math.max(0, scrollY + box.top + row.y - innerHeight / 2));
    }
  });
  page.timelines[side] = {facts, rows, act, findSlice, x, view: () => view, width: () => width, left: () => left,
    pixel: (row) => facts.rows[row].y + 2};
};

page.start();
