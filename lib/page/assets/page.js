// The report page's script: sections, tables, the heat map, the flame graph. All is in the page without it but these
// two and the timeline. Names from traces only ever become text nodes or text on a canvas.
'use strict';

const page = {
  colours: {},
  readers: [],  // called with the deep link's values, and when colours or sizes change
  redraws: [],
  heats: {},  // by side: '', 'base', 'new', 'delta'
  timelines: {},
};

page.make = (name, text, parent) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
};

page.bytes = (id) => {
  const element = document.getElementById(id);
  return element ? Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0)) : new Uint8Array(0);
};

page.json = (id) => {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
};

// Three digits after the point and a unit that fits, as in the tables.
page.duration = (ns) => {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  const [unit, length] = size < 1e6 ? ['us', 1e3] : size < 1e9 ? ['ms', 1e6] : ['s', 1e9];
  return `${(ns / length).toFixed(3)} ${unit}`;
};

page.readColours = () => {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['page', 'card', 'ink', 'soft', 'line', 'mark', 'step', 'link', 'kernel', 'memcpy', 'memset', 'communication',
    'runtime', 'dataloader', 'cpu', 'host_code', 'other'])
    page.colours[name] = style.getPropertyValue(`--${name}`).trim();
};

// A canvas that is as sharp as the screen; returns its context and its size in CSS pixels.
page.prepare = (canvas, height) => {
  // Browsers draw no canvas that is higher than some 32,000 pixels.
  const scale = Math.min(window.devicePixelRatio || 1, 3, 30000 / height);
  const width = canvas.clientWidth || canvas.parentElement.clientWidth || 800;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  return {context, width, height};
};

page.tip = (() => {
  const tip = page.make('div', '', document.body);
  tip.className = 'tip';
  tip.hidden = true;
  return {
    show(text, x, y) {
      tip.textContent = text;
      tip.hidden = false;
      tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 8 : y + 18}px`;
    },
    hide() { tip.hidden = true; },
  };
})();

// Shows what words(event) says of the place that is pointed at, unless that is nothing.
page.addTip = (canvas, words) => {
  canvas.addEventListener('pointermove', (event) => {
    const text = words(event);
    if (text) page.tip.show(text, event.clientX, event.clientY);
    else page.tip.hide();
  });
  canvas.addEventListener('pointerleave', page.tip.hide);
};

// A name in the room of so many letters.
page.fitted = (name, most) => name.length > most ? `${name.slice(0, Math.max(1, most - 1))}…` : name;

// ---- sections -------------------------------------------------------------------------------------------------------
page.showSection = (id) => {
  const section = document.getElementById(id);
  if (!section || section.tagName !== 'SECTION') return false;
  for (const other of document.querySelectorAll('main > section')) other.classList.toggle('shown', other === section);
  for (const link of document.querySelectorAll('nav a'))
    if (link.hash === `#${id}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  page.redraw();
  return true;
};

page.redraw = () => {
  page.readColours();
  for (const draw of page.redraws) draw();
};

// "#time" shows a section, "#rank=3&step=12" a moment of the timeline; both: "#time&rank=3".
page.follow = () => {
  let text = '';
  try { text = decodeURIComponent(location.hash.slice(1)); } catch { text = ''; }
  const values = {};
  let section = null;
  for (const part of text.split('&')) {
    const [key, value] = part.split('=');
    if (value === undefined) section = key || section;
    else values[key] = value;
  }
  // The browser has scrolled to the section, so that its title is behind the contents list.
  scrollTo(0, 0);
  const hasPlace = values.rank !== undefined || values.step !== undefined;
  if (!page.showSection(section || (hasPlace ? 'timeline' : 'overview'))) page.showSection('overview');
  for (const read of page.readers) read(values);
};

page.setTheme = () => {
  const root = document.documentElement;
  const next = {undefined: 'dark', dark: 'light', light: undefined}[root.dataset.theme];
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
  return `Colours: ${next || 'as the system'}`;
};

page.addTheme = () => {
  const button = page.make('button', 'Colours: as the system', document.querySelector('header'));
  button.type = 'button';
  button.addEventListener('click', () => {
    button.textContent = page.setTheme();
    page.redraw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => page.redraw());
};

// ---- tables ---------------------------------------------------------------------------------------------------------
page.cellValue = (row, column) => {
  const cell = row.cells[column];
  if (!cell.classList.contains('n')) return cell.textContent;
  return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
};

page.sortTable = (table, column, isDescending) => {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [page.cellValue(row, column), row]);
  const isNone = (value) => value === null || value === '';
  rows.sort(([a], [b]) => {
    if (isNone(a) || isNone(b)) return isNone(a) - isNone(b);
    const order = typeof a === 'number' ? a - b : a < b ? -1 : a > b ? 1 : 0;
    return isDescending ? -order : order;
  });
  body.append(...rows.map(([, row]) => row));
  for (const head of table.tHead.rows[0].cells) head.setAttribute('aria-sort', 'none');
  table.tHead.rows[0].cells[column].setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
};

page.addSorting = (table) => {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = page.make('button', head.textContent);
    button.type = 'button';
    head.replaceChildren(button);
    head.setAttribute('aria-sort', 'none');
    const startsDescending = head.classList.contains('n');
    button.addEventListener('click', () => {
      const order = head.getAttribute('aria-sort');
      page.sortTable(table, column, order === 'none' ? startsDescending : order === 'ascending');
    });
  });
};

page.addFilter = (table) => {
  const tools = page.make('div');
  tools.className = 'tools';
  const label = page.make('label', 'Filter ', tools);
  const input = page.make('input', undefined, label);
  input.type = 'search';
  const count = page.make('span', '', tools);
  count.setAttribute('role', 'status');
  input.addEventListener('input', () => {
    const wanted = input.value.toLowerCase();
    let kept = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      kept += row.hidden ? 0 : 1;
    }
    count.textContent = wanted ? `${kept} of ${table.tBodies[0].rows.length} rows` : '';
  });
  table.parentElement.before(tools);
};

page.addTables = () => {
  for (const table of document.querySelectorAll('table.data')) {
    if (!table.classList.contains('tree')) page.addSorting(table);
    if (table.tBodies[0].rows.length > 8) page.addFilter(table);
  }
};

// ---- heat map: ranks x steps ------------------------------------------------------------------------------------------
page.heatColour = (share) => {
  // From light to dark in one hue, which the eye orders without colour vision, too.
  const stops = [[236, 244, 251], [158, 202, 225], [66, 146, 198], [8, 81, 156], [4, 36, 80]];
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return `rgb(${stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (at - i))).join(' ')})`;
};

// What is shorter is blue and what is longer is orange: those two differ for every eye.
page.deltaColour = (share) => {
  const [to, size] = share < 0 ? [[0, 68, 136], -share] : [[176, 72, 0], share];
  const grey = [238, 238, 238];
  return `rgb(${grey.map((c, k) => Math.round(c + (to[k] - c) * Math.sqrt(Math.min(1, size)))).join(' ')})`;
};

page.signed = (ns) => `${ns < 0 ? '' : '+'}${page.duration(ns)}`;

// A page of two sides has a map of each, and one of the differences.
page.addHeatMap = (canvas) => {
  const side = canvas.dataset.side;
  const id = (name) => side ? `${side}-${name}` : name;
  const grid = page.json(id('grid'));
  if (!grid) return;
  const data = page.bytes(id('grid-data'));
  const cells = grid.rows.length * grid.columns.length;
  const select = document.getElementById(id('heat-role'));
  const status = document.getElementById(id('heat-status'));
  let at = {row: 0, column: 0, isShown: false};
  let place = {left: 0, cell: 1, rowHeight: 1};

  // The length of a step, and the share of a role in it; null without that step.
  const total = (i) => {
    const value = data[2 * i] | (data[2 * i + 1] << 8);
    if (grid.is_delta) return value === 0x8000 ? null : ((value << 16 >> 16) / 32767) * grid.max_ns;
    return value === 0 ? null : ((value - 1) / 65534) * grid.max_ns;
  };
  const share = (role, i) => data[2 * cells + role * cells + i] / 255;
  // Without the first step where there are some: it warms up, and would make all others look alike.
  const range = () => {
    let least = Infinity;
    let most = -Infinity;
    for (let i = 0; i < cells; ++i) {
      const ns = valueOf(i);
      if (ns === null || (grid.columns.length > 4 && i % grid.columns.length === 0)) continue;
      least = Math.min(least, ns);
      most = Math.max(most, ns);
    }
    return [least, most];
  };
  const valueOf = (i) => {
    const ns = total(i);
    const role = select ? Number(select.value) : -1;
    return ns === null || role < 0 ? ns : ns * share(role, i);
  };

  const draw = () => {
    const rowHeight = Math.max(2, Math.min(26, Math.floor(520 / grid.rows.length)));
    const {context, width} = page.prepare(canvas, rowHeight * grid.rows.length + 22);
    if (canvas.clientWidth === 0) return;
    const left = 8 + Math.max(...[...grid.rows.keys()].filter((i) => i % 16 === 0 || i === grid.rows.length - 1)
      .map((i) => context.measureText(grid.rows[i]).width));
    // A run of three steps is no banner.
    const cell = Math.min(96, (width - left - 2) / grid.columns.length);
    place = {left, cell, rowHeight};
    const [least, most] = range();
    const size = Math.max(Math.abs(least), Math.abs(most)) || 1;
    const colour = (value) => grid.is_delta ? page.deltaColour(value / size) :
      page.heatColour(most > least ? (value - least) / (most - least) : 0);
    for (let row = 0; row < grid.rows.length; ++row)
      for (let column = 0; column < grid.columns.length; ++column) {
        const value = valueOf(row * grid.columns.length + column);
        if (value === null) continue;
        context.fillStyle = colour(value);
        const gap = cell > 6 && rowHeight > 6 ? 1 : 0;
        context.fillRect(left + column * cell, row * rowHeight, Math.max(cell - gap, .5), rowHeight - gap);
      }
    context.fillStyle = page.colours.soft;
    const every = Math.ceil(14 / rowHeight);
    for (let row = 0; row < grid.rows.length; row += every)
      context.fillText(grid.rows[row], 2, row * rowHeight + Math.max(rowHeight, 12) / 2);
    const bottom = rowHeight * grid.rows.length + 12;
    const first = `step ${grid.columns[0]}`;
    context.fillText(first, left, bottom);
    const last = `${grid.columns[grid.columns.length - 1]}`;
    const end = left + cell * grid.columns.length;
    if (grid.columns.length > 1)
      context.fillText(last, Math.max(end - context.measureText(last).width - 3, left + context.measureText(first).width + 8), bottom);
    if (at.isShown) {
      context.strokeStyle = page.colours.communication;
      context.lineWidth = 2;
      context.strokeRect(left + at.column * cell, at.row * rowHeight, Math.max(cell, 3), Math.max(rowHeight, 3));
    }
    status.textContent = !(least <= most) ? 'No steps.' : grid.is_delta ?
      `Blue: the new step is shorter, orange: longer; full colour: ${page.duration(size)} and more. ${grid.note}` :
      `Light: ${page.duration(least)}, dark: ${page.duration(most)} and more. ${grid.note}`;
  };

  const words = () => {
    const i = at.row * grid.columns.length + at.column;
    const ns = total(i);
    const where = `${grid.row_noun} ${grid.rows[at.row]}, step ${grid.columns[at.column]}`;
    if (ns === null) return `${where}: no such step`;
    const parts = grid.roles.map((name, role) => [share(role, i), name]).filter(([part]) => part > .004)
      .sort((a, b) => b[0] - a[0]).map(([part, name]) => `${name} ${(100 * part).toFixed(0)} %`);
    return `${where}: ${grid.is_delta ? page.signed(ns) : page.duration(ns)}${parts.length ? `\n${parts.join(', ')}` : ''}`;
  };
  const find = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - place.left) / place.cell);
    const row = Math.floor((event.clientY - box.top) / place.rowHeight);
    if (column < 0 || row < 0 || column >= grid.columns.length || row >= grid.rows.length) return false;
    at = {row, column, isShown: at.isShown};
    return true;
  };
  const go = () => {
    location.hash = `rank=${grid.first_ranks[at.row]}&step=${encodeURIComponent(grid.first_steps[at.column])}${
      side ? `&side=${side === 'delta' ? 'new' : side}` : ''}`;
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
  page.heats[side] = {grid, valueOf, words: (row, column) => { at = {row, column, isShown: false}; return words(); },
    place: () => place};
};

// ---- flame graph: the rows of the table of the tree -------------------------------------------------------------------
page.treeNodes = (table) => {
  const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.k);
  const nodes = [];
  const stack = [];
  for (const row of table.tBodies[0].rows) {
    const value = (key) => keys.includes(key) ? page.cellValue(row, keys.indexOf(key)) || 0 : 0;
    const node = {row, depth: Number(row.dataset.d), name: row.cells[keys.indexOf('name')].textContent.trim(),
      host: value('host_total_ns'), device: value('device_total_ns'), children: []};
    stack.length = node.depth;
    const parent = stack[node.depth - 1];
    if (parent) parent.children.push(node);
    stack[node.depth] = node;
    nodes.push(node);
  }
  return nodes;
};

page.addFlame = (canvas) => {
  const part = canvas.closest('.side, section');
  const nodes = page.treeNodes(part.querySelector('table.tree'));
  const select = part.querySelector('select');
  const status = part.querySelector('.status');
  const height = 19;
  let root = null;
  let boxes = [];
  let marked = 0;

  const layout = (width) => {
    boxes = [];
    const size = (node) => node[select.value];
    const put = (list, x, room, level, whole) => {
      for (const node of [...list].sort((a, b) => size(b) - size(a))) {
        const wide = whole > 0 ? room * size(node) / whole : 0;
        if (wide < .5) continue;
        boxes.push({node, x, y: level * height, width: wide});
        put(node.children, x, wide, level + 1, size(node));
        x += wide;
      }
    };
    const roots = root ? [root] : nodes.filter((node) => node.depth === 0);
    put(roots, 0, width, 0, roots.reduce((sum, node) => sum + size(node), 0));
  };
  const draw = () => {
    if (canvas.parentElement.clientWidth === 0) return;
    layout(canvas.clientWidth || 800);
    const depth = boxes.reduce((most, box) => Math.max(most, box.y + height), height);
    const {context} = page.prepare(canvas, depth);
    boxes.forEach((box, i) => {
      let hash = 0;
      for (const c of box.node.name) hash = (hash * 31 + c.codePointAt(0)) >>> 0;
      context.fillStyle = `hsl(${18 + hash % 34} ${62 + hash % 20}% ${64 + hash % 12}%)`;
      context.fillRect(box.x, box.y, Math.max(box.width - 1, .5), height - 1);
      if (i === marked && document.activeElement === canvas) {
        context.strokeStyle = page.colours.ink;
        context.lineWidth = 2;
        context.strokeRect(box.x + 1, box.y + 1, Math.max(box.width - 3, 1), height - 3);
      }
      if (box.width < 26) return;
      context.fillStyle = '#1a1c1f';
      context.fillText(page.fitted(box.node.name, Math.floor((box.width - 8) / 6.4)), box.x + 4, box.y + height / 2);
    });
    if (boxes.length === 0) status.textContent = 'No such time in these traces.';
    else if (document.activeElement !== canvas) status.textContent = root ? `Inside: ${root.name}. Escape shows all.` : '';
  };
  const words = (node) => `${node.name}\nhost ${page.duration(node.host)}, device ${page.duration(node.device)}`;
  const find = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    return boxes.findIndex((b) => x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + height);
  };
  const zoom = (node) => {
    root = node === root ? null : node;
    marked = 0;
    draw();
  };
  page.addTip(canvas, (event) => { const i = find(event); return i >= 0 && words(boxes[i].node); });
  canvas.addEventListener('click', (event) => { const i = find(event); if (i >= 0) zoom(boxes[i].node); });
  canvas.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (step) marked = Math.max(0, Math.min(boxes.length - 1, marked + step));
    else if (event.key === 'Enter' && boxes[marked]) return zoom(boxes[marked].node);
    else if (event.key === 'Escape') root = null;
    else return;
    event.preventDefault();
    draw();
    if (boxes[marked]) status.textContent = words(boxes[marked].node).replace('\n', ': ');
  });
  canvas.addEventListener('focus', draw);
  canvas.addEventListener('blur', draw);
  select.addEventListener('change', () => { root = null; draw(); });
  page.redraws.push(draw);
};

// A print has all sections, so all pictures are drawn for it.
page.followPrint = () => {
  const show = (isPrint) => {
    document.body.classList.toggle('tabs', !isPrint);
    page.redraw();
  };
  matchMedia('print').addEventListener('change', (event) => show(event.matches));
  addEventListener('beforeprint', () => show(true));
  addEventListener('afterprint', () => show(false));
};

page.start = () => {
  document.body.classList.add('tabs');
  for (const element of document.querySelectorAll('[data-script]')) element.hidden = false;
  page.readColours();
  page.addTheme();
  page.addTables();
  document.querySelectorAll('canvas.heat-map').forEach(page.addHeatMap);
  document.querySelectorAll('canvas.flame').forEach(page.addFlame);
  document.querySelectorAll('canvas.timeline').forEach(page.addTimeline);
  addEventListener('hashchange', page.follow);
  addEventListener('resize', page.redraw);
  page.followPrint();
  page.follow();
};
