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

// ---- links ------------------------------------------------------------------------------------------------------------
page.sectionOf = {summarize: 'work', kernels: 'work', ops: 'work', comm: 'comm', stragglers: 'comm', steps: 'time', dataloader: 'time',
  gpu: 'devices', idle: 'devices', launch: 'devices', memcpy: 'devices', tree: 'code', host: 'memory', memory: 'memory', info: 'files',
  check: 'files', bottleneck: 'overview', compare: 'overview', report: 'overview', longest: 'timeline',
  'what-if': 'job', bubbles: 'job', mesh: 'job'};

// A line of the verdict: links to its ranks, steps and commands.
page.linkLine = (item, side) => {
  const pattern = /\brank (\d+)\b|\bstep (\d+(?:\.\d+)?)\b|\btrace-stats ([a-z-]+)\b/g;
  const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) {
    const text = node.textContent;
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(pattern)) {
      const href = found[3] === undefined ? page.address('timeline', {rank: found[1], step: found[2], side}) :
        page.sectionOf[found[3]] && `#${page.sectionOf[found[3]]}`;
      if (!href) continue;
      parts.push(text.slice(at, found.index));
      const link = page.make('a', found[0]);
      link.href = href;
      parts.push(link);
      at = found.index + found[0].length;
    }
    if (parts.length > 0) node.replaceWith(...parts, text.slice(at));
  }
};

// The label by which the timeline knows the step of a row, which may have its epoch apart; null if it has none.
page.stepLabel = (timeline, epoch, step) => {
  const labels = timeline ? timeline.labels : new Set();
  return [`${epoch}.${step}`, `${step}`].find((label) => labels.has(label)) ?? null;
};

// The rows of tables: names, ranks, steps and commands are links. What a column is says its key.
page.linkTable = (table) => {
  const side = table.closest('.side')?.dataset.side;
  const timeline = page.timelines[side || ''];
  const section = table.closest('section').id;
  const heads = [...table.tHead.rows[0].cells];
  const find = (...keys) => heads.findIndex((head) => keys.includes(head.dataset.k || head.textContent.trim().toLowerCase()));
  const [rank, epoch, step, command] = [find('rank', 'slowest_rank', 'last_rank', 'last'), find('epoch'), find('step'), find('command', 'see')];
  const repair = find('what');
  const names = ['name', 'kernel', 'operator', 'collective'].map((key) => find(key)).filter((column) => column >= 0);
  const put = (cell, href) => {
    if (cell.querySelector('a, svg')) return;
    // The depth of a call is no part of its link.
    const depth = /^\s*/.exec(cell.textContent)[0];
    const link = page.make('a', cell.textContent.slice(depth.length));
    link.href = href;
    cell.replaceChildren(depth, link);
  };
  // A name stays in sight, and where there is none the words of the last column, on a phone.
  const kept = names.length > 0 ? names : table.classList.contains('data') ? [heads.length - 1] : [];
  for (const row of table.rows)
    for (const column of kept) if (row.cells[column] && !row.cells[column].classList.contains('n')) row.cells[column].classList.add(names.length > 0 ? 'name' : 'words');
  for (const row of table.tBodies[0].rows) {
    const raw = (column) => column < 0 || !row.cells[column] ? '' : row.cells[column].dataset.v ?? row.cells[column].textContent;
    const ranks = /^\s*\d+\s*$/.test(raw(rank)) ? raw(rank).trim() : null;
    const label = step < 0 || raw(step) === '' ? null : page.stepLabel(timeline, raw(epoch).trim(), raw(step).trim());
    const place = page.address('timeline', {rank: ranks, step: label, side});
    if (ranks !== null) put(row.cells[rank], place);
    if (label !== null) put(row.cells[step], place);
    for (const name of names) {
      if (!/\w/.test(raw(name)) || row.cells[name].classList.contains('n')) continue;
      const text = timeline?.nameSet.has(raw(name)) ? raw(name) : raw(name).trim();
      put(row.cells[name], page.nameAddress(text, side, section));
    }
    if (repair >= 0) page.linkLine(row.cells[repair], side);
    const words = raw(command).trim().replace(/^trace-stats /, '');
    if (command >= 0 && page.sectionOf[words]) put(row.cells[command], `#${page.sectionOf[words]}`);
  }
};

// An address with a name shows, beside its span, the row of its section that has it.
page.showName = (values) => {
  for (const row of document.querySelectorAll('tr.found')) row.classList.remove('found');
  const status = document.getElementById('search-status');
  status.textContent = '';
  if (values.name === undefined) return undefined;
  const section = document.getElementById(page.place.section);
  const part = values.side && section.querySelector(`.side[data-side="${values.side === 'new' ? 'new' : 'base'}"]`) || section;
  const row = [...part.querySelectorAll('table tbody tr')].find((one) => [...one.cells].some((cell) => cell.textContent.trim() === values.name.trim()));
  const hit = page.findName(values.name, values.side);
  const known = hit ? `${values.name}: ${hit.kind}, ${hit.count} times, ${page.duration(hit.total_ns)} in all` : values.name;
  if (page.place.section === 'timeline') status.textContent = page.timelineOf(values.side)?.nameSet.has(values.name) ? '' :
    `${known}; the timeline keeps no span of it.`;
  else if (!row) status.textContent = `${known}; no table of this section has it.`;
  else if (hit) status.textContent = `${known}.`;
  if (!row) return undefined;
  row.classList.add('found');
  return () => row.scrollIntoView({block: 'center'});
};

page.addLinks = () => {
  for (const item of document.querySelectorAll('.verdict li, .verdict p:not(.command)')) page.linkLine(item, item.closest('.side')?.dataset.side);
  for (const table of document.querySelectorAll('table')) if (table.tHead && table.tBodies.length > 0) page.linkTable(table);
  page.readers.push(page.showName);
};

