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
  check: 'files', bottleneck: 'overview', compare: 'overview', report: 'overview', longest: 'timeline'};

// A line of the verdict: links to its ranks, steps and commands.
page.linkLine = (item, side) => {
  const end = side ? `&side=${side}` : '';
  const pattern = /\brank (\d+)\b|\bstep (\d+(?:\.\d+)?)\b|\btrace-stats ([a-z-]+)\b/g;
  const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) {
    const text = node.textContent;
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(pattern)) {
      const href = found[1] ? `#timeline&rank=${found[1]}${end}` : found[2] ? `#timeline&step=${found[2]}${end}` :
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

// The rows of tables: names, ranks, steps and commands are links.
page.linkTable = (table) => {
  const side = table.closest('.side')?.dataset.side;
  const end = side ? `&side=${side}` : '';
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim().toLowerCase());
  const find = (...names) => heads.findIndex((head) => names.includes(head));
  const [rank, step, name, command] = [find('rank', 'ranks', 'slowest rank', 'last'), find('step'), find('name', 'kernel', 'operator', 'collective'),
    find('command', 'see')];
  const put = (row, column, href) => {
    const cell = row.cells[column];
    const text = cell.textContent;
    if (!/\w/.test(text) || cell.querySelector('a, svg')) return;
    const link = page.make('a', text);
    link.href = href;
    cell.replaceChildren(link);
  };
  for (const row of table.tBodies[0].rows) {
    if (name >= 0) row.cells[name]?.classList.add('name');
    const text = (column) => row.cells[column]?.textContent.trim() || '';
    const first = (column) => /\d+/.exec(text(column))?.[0];
    if (rank >= 0 && first(rank)) put(row, rank, `#timeline&rank=${first(rank)}${step >= 0 && text(step) ? `&step=${encodeURIComponent(text(step))}` : ''}${end}`);
    if (step >= 0 && text(step)) put(row, step, `#timeline${rank >= 0 && first(rank) ? `&rank=${first(rank)}` : ''}&step=${encodeURIComponent(text(step))}${end}`);
    if (name >= 0 && text(name)) put(row, name, page.nameAddress(text(name), side));
    if (command >= 0 && page.sectionOf[text(command).replace(/^trace-stats /, '')]) put(row, command, `#${page.sectionOf[text(command).replace(/^trace-stats /, '')]}`);
  }
};

// An address with a name that is in no timeline shows the row of the tables that has it.
page.showName = (values) => {
  for (const row of document.querySelectorAll('tr.found')) row.classList.remove('found');
  if (values.name === undefined) return;
  const section = document.getElementById(page.place.section);
  const row = [...section.querySelectorAll('table.data tbody tr')].find((one) => [...one.cells].some((cell) => cell.textContent.trim() === values.name));
  const status = document.getElementById('search-status');
  const hit = page.searchIndex().find((one) => one.name === values.name);
  status.textContent = hit ? `${values.name}: ${hit.kind}, ${hit.count} times, ${page.duration(hit.total_ns)} in all${row ? '' : '; it is in none of the tables below'}.` : '';
  if (!row) return;
  row.classList.add('found');
  row.scrollIntoView({block: 'center'});
};

page.addLinks = () => {
  for (const item of document.querySelectorAll('.verdict li, .verdict p:not(.command)')) page.linkLine(item, item.closest('.side')?.dataset.side);
  for (const table of document.querySelectorAll('table')) if (table.tHead && table.tBodies.length > 0) page.linkTable(table);
  page.readers.push(page.showName);
};

